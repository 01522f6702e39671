import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import {
  createPayloadEscape,
  type Escape,
  escapeHeader,
  escapeNothing,
} from './placeholder-escapes.ts'

/** A placeholder such as `{{value}}`. The group is its name. */
const PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/g
const DEFAULT_SUBJECT = '{{alert_name}} on {{channel_name}}'
const CONDITION_SYMBOLS: Record<AlertCondition, string> = {
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  eq: '=',
  ne: '≠',
}
/** Fields of an action from which `{{subject}}` and `{{message}}` are created. */
const TEXT_FIELDS = ['action_subject', 'action_message'] as const
/** Fields of an action in which `{{subject}}` and `{{message}}` are placeholders too. */
const REQUEST_FIELDS = ['action_url', 'action_query', 'action_header', 'action_payload'] as const

/** Returns the template of the message of an action without a text. */
function createDefaultMessage({ alert_threshold_condition }: FiringDetails): string {
  const symbol = CONDITION_SYMBOLS[alert_threshold_condition]
  return `{{key}} is {{value}} (${symbol} {{threshold}}) on {{channel_name}} at {{time}}`
}

/** Returns the values of all placeholders by name, except `subject` and `message`. */
const toValues = (details: FiringDetails): Record<string, string> => ({
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
})

/** Replaces placeholders such as `{{value}}` in a text. Unknown placeholders remain unchanged. */
const replacePlaceholders = (
  text: string,
  values: Record<string, string>,
  escapeValue: Escape = escapeNothing,
) =>
  text.replace(PLACEHOLDER, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? escapeValue(values[name]!) : placeholder,
  )

/**
 * Creates the message of an action with all placeholders replaced. An action without a subject or
 * text uses the defaults. Values are escaped for the field that contains the placeholder, so that a
 * name cannot change the structure of a URL or of a payload.
 */
export function createRequest(action: AlertAction, details: FiringDetails): DeliveryRequest {
  const values = toValues(details)
  const subject = replacePlaceholders(action.action_subject || DEFAULT_SUBJECT, values)
  const message = replacePlaceholders(
    action.action_message || createDefaultMessage(details),
    values,
  )

  const requestValues = { ...values, subject, message }
  const fillTemplate = (template: string | undefined, escapeValue: Escape) =>
    template === undefined ? undefined : replacePlaceholders(template, requestValues, escapeValue)
  const isJson = isJsonTemplate(action.action_payload)
  const escapePayload = createPayloadEscape(isJson, action.action_markup)

  return {
    subject,
    message,
    details,
    action: {
      ...action,
      action_url: fillTemplate(action.action_url, encodeURIComponent),
      action_query: fillTemplate(action.action_query, encodeURIComponent),
      action_header: fillTemplate(action.action_header, escapeHeader),
      action_payload: fillTemplate(action.action_payload, escapePayload),
    },
  }
}

/**
 * Returns whether a payload is JSON: it begins with a bracket or a single brace. Two braces
 * begin a placeholder.
 */
const isJsonTemplate = (template = '') => /^\s*(\[|\{(?!\{))/.test(template)

/** The texts that the console shows for a notification. */
interface NotificationData {
  /** The sender of e-mails. */
  from: string
  /** The receivers of the first action. Empty if there is none. */
  to: string
  subject: string
  message: string
}

/** Returns the texts of the first request or, if there is none, the default texts. */
export function createNotificationData(
  [firstRequest]: readonly DeliveryRequest[],
  details: FiringDetails,
  from: string,
): NotificationData {
  const values = toValues(details)
  return {
    from,
    to: firstRequest?.action.action_to ?? '',
    subject: firstRequest?.subject ?? replacePlaceholders(DEFAULT_SUBJECT, values),
    message: firstRequest?.message ?? replacePlaceholders(createDefaultMessage(details), values),
  }
}

/** A placeholder that has no value, and the field that contains it. */
export interface UnknownPlaceholder {
  field: string
  placeholder: string
}

/** Finds the placeholders of an action that `createRequest` leaves unchanged. */
export function findUnknownPlaceholders(
  action: AlertAction,
  details: FiringDetails,
): UnknownPlaceholder[] {
  const names = Object.keys(toValues(details))
  const requestNames = [...names, 'subject', 'message']
  return [
    ...TEXT_FIELDS.flatMap(field => findUnknownIn(field, action[field], names)),
    ...REQUEST_FIELDS.flatMap(field => findUnknownIn(field, action[field], requestNames)),
  ]
}

function findUnknownIn(
  field: string,
  template: string | undefined,
  knownNames: readonly string[],
): UnknownPlaceholder[] {
  const placeholders = [...(template ?? '').matchAll(PLACEHOLDER)]
  const unknown = placeholders.filter(([, name = '']) => !knownNames.includes(name))
  return unknown.map(([placeholder]) => ({ field, placeholder }))
}
