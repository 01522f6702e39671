import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import { type Escape, escapeHeader, escapeJson, escapeNothing } from './placeholder-escapes.ts'

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

/**
 * Creates what an action sends, with all placeholders replaced. An action without a subject or message uses the default
 * text. Values are escaped for the place where they are filled in, so that a name cannot change the structure around it.
 */
export function createRequest(action: AlertAction, details: FiringDetails): DeliveryRequest {
  const fill = (template: string | undefined, escapeValue: Escape) =>
    template === undefined ? undefined : fillPlaceholders(template, details, escapeValue)
  const payload = action.action_payload
  return {
    subject: fillPlaceholders(action.action_subject || DEFAULT_SUBJECT, details),
    message: fillPlaceholders(action.action_message || createDefaultMessage(details), details),
    details,
    action: {
      ...action,
      action_url: fill(action.action_url, encodeURIComponent),
      action_query: fill(action.action_query, encodeURIComponent),
      action_header: fill(action.action_header, escapeHeader),
      action_payload: fill(payload, isJsonTemplate(payload) ? escapeJson : escapeNothing),
    },
  }
}

/** A payload that begins with a placeholder, which has two braces, is not JSON. */
const isJsonTemplate = (template = '') => /^\s*(\[|\{(?!\{))/.test(template)

/** Returns the texts that the console shows for a notification: the texts of the first request, or the default texts. */
export function createNotificationData(
  [firstRequest]: readonly DeliveryRequest[],
  details: FiringDetails,
  from: string,
) {
  return {
    from,
    to: firstRequest?.action.action_to ?? '',
    subject: firstRequest?.subject ?? fillPlaceholders(DEFAULT_SUBJECT, details),
    message: firstRequest?.message ?? fillPlaceholders(createDefaultMessage(details), details),
  }
}

/** Replaces placeholders such as `{{value}}`. Unknown placeholders remain unchanged. */
export function fillPlaceholders(
  text: string,
  details: FiringDetails,
  escapeValue: Escape = escapeNothing,
): string {
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
  return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (placeholder, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return value === undefined ? placeholder : escapeValue(value)
  })
}
