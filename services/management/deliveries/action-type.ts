import type { ActionType, AlertAction } from '@eyrie/contract/management/alert'

/** Returns the type of an action; by default, it follows from the scheme of the URL. */
export function findActionType({ action_type, action_url = '' }: AlertAction): ActionType {
  if (action_type) return action_type
  if (/^https?:/i.test(action_url)) return 'webhook'
  if (/^(mqtts?|wss?):/i.test(action_url)) return 'mqtt'
  return 'email'
}
