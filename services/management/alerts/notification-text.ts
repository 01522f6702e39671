import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'

/** What a notification tells of. */
export interface Firing {
  alert_name: string
  alert_priority: string
  alert_threshold: string
  alert_threshold_condition: AlertCondition
  alert_threshold_key: string
  channel_name: string
  usecase_key: string
  /** Of the statistic. */
  value: number
  /** RFC 3339. */
  time: string
}

/** What is to be sent by one action: its texts with everything filled in. Where to, the alert's action says. */
export interface Delivery {
  /** Place among the alert's actions. */
  action: number
  type: string
  to: string
  subject: string
  message: string
  payload: string
}

const symbols: Record<AlertCondition, string> = { gt: '>', gte: '≥', lt: '<', lte: '≤', eq: '=', ne: '≠' }

/** The words that an action's texts may hold in double braces. */
const placeholders = (firing: Firing): Record<string, string> => ({
  alert_name: firing.alert_name,
  alert_priority: firing.alert_priority,
  channel_name: firing.channel_name,
  usecase_key: firing.usecase_key,
  key: firing.alert_threshold_key,
  condition: firing.alert_threshold_condition,
  threshold: firing.alert_threshold,
  value: numberText(firing.value),
  time: firing.time,
})

/** Fills in what stands in double braces, such as `{{value}}`; what nobody knows stays as it is. */
export function fillIn(text: string, firing: Firing): string {
  const words = placeholders(firing)
  return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, word: string) => words[word] ?? whole)
}

/** What each action of an alert is to send; an action without texts of its own sends what can be said of any alert. */
export function deliveriesOf(actions: readonly AlertAction[], firing: Firing): Delivery[] {
  return actions.map((action, place) => ({
    action: place,
    type: action.action_type ?? typeByAddress(action),
    to: action.action_to ?? '',
    subject: fillIn(action.action_subject || '{{alert_name}} on {{channel_name}}', firing),
    message: fillIn(action.action_message || sentence(firing), firing),
    payload: fillIn(action.action_payload ?? '', firing),
  }))
}

const typeByAddress = ({ action_url = '' }: AlertAction) => {
  if (/^https?:/i.test(action_url)) return 'webhook'
  return /^(mqtts?|wss?):/i.test(action_url) ? 'mqtt' : 'email'
}

/** `from` as the mail settings have it. A notification without actions is for those who look. */
export function notificationData(deliveries: readonly Delivery[], firing: Firing, from: string) {
  const [first] = deliveries
  return {
    from,
    to: first?.to ?? '',
    subject: first?.subject ?? fillIn('{{alert_name}} on {{channel_name}}', firing),
    message: first?.message ?? fillIn(sentence(firing), firing),
  }
}

const sentence = ({ alert_threshold_condition }: Firing) =>
  `{{key}} is {{value}} (${symbols[alert_threshold_condition]} {{threshold}}) on {{channel_name}} at {{time}}`

/** Without the digits that only arithmetic has put there. */
const numberText = (value: number) => String(Number(value.toFixed(3)))
