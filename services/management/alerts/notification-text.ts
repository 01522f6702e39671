import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import { createPayloadEscape, type Escape, escapeHeader, escapeNothing } from './placeholder-escapes.ts'

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
  const values = listValues(details)
  const subject = replacePlaceholders(action.action_subject || DEFAULT_SUBJECT, values)
  const message = replacePlaceholders(action.action_message || createDefaultMessage(details), values)
  const fill = (template: string | undefined, escapeValue: Escape) =>
    template === undefined
      ? undefined
      : replacePlaceholders(template, { ...values, subject, message }, escapeValue)
  const { action_payload: payload, action_markup } = action
  return {
    subject,
    message,
    details,
    action: {
      ...action,
      action_url: fill(action.action_url, encodeURIComponent),
      action_query: fill(action.action_query, encodeURIComponent),
      action_header: fill(action.action_header, escapeHeader),
      action_payload: fill(payload, createPayloadEscape(isJsonTemplate(payload), action_markup)),
    },
  }
}

/** A placeholder that stands for nothing, and the field that contains it. */
export interface UnknownPlaceholder {
  field: string
  placeholder: string
}

/** Finds the placeholders of an action that would remain unchanged. */
export function findUnknownPlaceholders(action: AlertAction, details: FiringDetails): UnknownPlaceholder[] {
  const names = Object.keys(listValues(details))
  const find = (field: keyof AlertAction & string, known: readonly string[]) =>
    [...String(action[field] ?? '').matchAll(PLACEHOLDER)]
      .filter(([, name = '']) => !known.includes(name))
      .map(([placeholder]) => ({ field, placeholder }))
  const texts = ['action_subject', 'action_message'].flatMap(field => find(field, names))
  const all = [...names, 'subject', 'message']
  return [
    ...texts,
    ...['action_url', 'action_query', 'action_header', 'action_payload'].flatMap(field => find(field, all)),
  ]
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

/** Replaces placeholders such as `{{value}}` in a text. Unknown placeholders remain unchanged. */
export const fillPlaceholders = (text: string, details: FiringDetails, escapeValue?: Escape): string =>
  replacePlaceholders(text, listValues(details), escapeValue)

const PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/g

/** Returns what placeholders stand for, by name. */
const listValues = (details: FiringDetails): Record<string, string> => ({
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

const replacePlaceholders = (
  text: string,
  values: Record<string, string>,
  escapeValue: Escape = escapeNothing,
) =>
  text.replace(PLACEHOLDER, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? escapeValue(values[name]!) : placeholder,
  )
