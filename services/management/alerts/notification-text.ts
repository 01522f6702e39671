import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'

/**
 * The data of one firing of an alert, with which the placeholders in its messages are replaced. Stored as JSON with the
 * notification.
 */
export interface FiringDetails {
  alert_name: string
  alert_priority: string
  alert_threshold: string
  alert_threshold_condition: AlertCondition
  alert_threshold_key: string
  channel_name: string
  usecase_key: string
  /** Value of the statistic when the alert fired. */
  value: number
  /** RFC 3339. */
  time: string
}

/** A message to be sent by one action of an alert, with all placeholders replaced. */
export interface Delivery {
  /** Index of the action in the alert. */
  action: number
  type: string
  to: string
  subject: string
  message: string
  payload: string
}

const DEFAULT_SUBJECT = '{{alert_name}} on {{channel_name}}'
const CONDITION_SYMBOLS: Record<AlertCondition, string> = {
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  eq: '=',
  ne: '≠',
}

const createDefaultMessage = ({ alert_threshold_condition }: FiringDetails) =>
  `{{key}} is {{value}} (${CONDITION_SYMBOLS[alert_threshold_condition]} {{threshold}}) on {{channel_name}} at {{time}}`

/** Creates one delivery for each action. An action without a subject or message uses the default text. */
export function createDeliveries(actions: readonly AlertAction[], details: FiringDetails): Delivery[] {
  return actions.map((action, index) => ({
    action: index,
    type: action.action_type ?? inferActionType(action),
    to: action.action_to ?? '',
    subject: fillPlaceholders(action.action_subject || DEFAULT_SUBJECT, details),
    message: fillPlaceholders(action.action_message || createDefaultMessage(details), details),
    payload: fillPlaceholders(action.action_payload ?? '', details),
  }))
}

/** Infers the type of an action from the scheme of its URL. */
function inferActionType({ action_url = '' }: AlertAction): string {
  if (/^https?:/i.test(action_url)) return 'webhook'
  if (/^(mqtts?|wss?):/i.test(action_url)) return 'mqtt'
  return 'email'
}

/** Returns the texts that the console shows for a notification: the texts of the first delivery, or the default texts. */
export function createNotificationData(
  deliveries: readonly Delivery[],
  details: FiringDetails,
  from: string,
) {
  const [firstDelivery] = deliveries
  return {
    from,
    to: firstDelivery?.to ?? '',
    subject: firstDelivery?.subject ?? fillPlaceholders(DEFAULT_SUBJECT, details),
    message: firstDelivery?.message ?? fillPlaceholders(createDefaultMessage(details), details),
  }
}

/** Replaces placeholders such as `{{value}}`. Unknown placeholders remain unchanged. */
export function fillPlaceholders(text: string, details: FiringDetails): string {
  const values: Record<string, string> = {
    alert_name: details.alert_name,
    alert_priority: details.alert_priority,
    channel_name: details.channel_name,
    usecase_key: details.usecase_key,
    key: details.alert_threshold_key,
    condition: details.alert_threshold_condition,
    threshold: details.alert_threshold,
    // Rounded, because sums of binary fractions would read 0.30000000000000004.
    value: String(Number(details.value.toFixed(3))),
    time: details.time,
  }
  return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (placeholder, name: string) => values[name] ?? placeholder)
}
