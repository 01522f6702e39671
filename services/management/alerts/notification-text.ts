import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'

/** The alert, channel and value that a notification reports. Stored as JSON with the notification. */
export interface AlertFiring {
  alert_name: string
  alert_priority: string
  alert_threshold: string
  alert_threshold_condition: AlertCondition
  alert_threshold_key: string
  channel_name: string
  usecase_key: string
  /** The statistic when the alert fired. */
  value: number
  /** RFC 3339. */
  time: string
}

/** A message that one action sends, with all placeholders filled in. */
export interface Delivery {
  /** Index among the actions of the alert. */
  action: number
  type: string
  to: string
  subject: string
  message: string
  payload: string
}

const DEFAULT_SUBJECT = '{{alert_name}} on {{channel_name}}'
const conditionSymbols: Record<AlertCondition, string> = {
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  eq: '=',
  ne: '≠',
}

const toDefaultMessage = ({ alert_threshold_condition }: AlertFiring) =>
  `{{key}} is {{value}} (${conditionSymbols[alert_threshold_condition]} {{threshold}}) on {{channel_name}} at {{time}}`

/** Creates one delivery for each action. An action without texts uses the default ones. */
export function createDeliveries(actions: readonly AlertAction[], firing: AlertFiring): Delivery[] {
  return actions.map((action, index) => ({
    action: index,
    type: action.action_type ?? inferActionType(action),
    to: action.action_to ?? '',
    subject: fillPlaceholders(action.action_subject || DEFAULT_SUBJECT, firing),
    message: fillPlaceholders(action.action_message || toDefaultMessage(firing), firing),
    payload: fillPlaceholders(action.action_payload ?? '', firing),
  }))
}

function inferActionType({ action_url = '' }: AlertAction): string {
  if (/^https?:/i.test(action_url)) return 'webhook'
  if (/^(mqtts?|wss?):/i.test(action_url)) return 'mqtt'
  return 'email'
}

/** The texts of the notification as the console shows them: those of the first delivery, or the default ones. */
export function createNotificationData(deliveries: readonly Delivery[], firing: AlertFiring, from: string) {
  const [first] = deliveries
  return {
    from,
    to: first?.to ?? '',
    subject: first?.subject ?? fillPlaceholders(DEFAULT_SUBJECT, firing),
    message: first?.message ?? fillPlaceholders(toDefaultMessage(firing), firing),
  }
}

/** Replaces placeholders such as `{{value}}`. Unknown placeholders remain. */
export function fillPlaceholders(text: string, firing: AlertFiring): string {
  const values: Record<string, string> = {
    alert_name: firing.alert_name,
    alert_priority: firing.alert_priority,
    channel_name: firing.channel_name,
    usecase_key: firing.usecase_key,
    key: firing.alert_threshold_key,
    condition: firing.alert_threshold_condition,
    threshold: firing.alert_threshold,
    // Rounded, since binary fractions show as 0.30000000000000004.
    value: String(Number(firing.value.toFixed(3))),
    time: firing.time,
  }
  return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (placeholder, name: string) => values[name] ?? placeholder)
}
