import type { ActionType, AlertAction } from '@eyrie/contract/management/alert'

/** Returns the type of an action; by default, it follows from the scheme of the URL. */
export function findActionType({
  action_type: actionType,
  action_url: actionUrl = '',
}: AlertAction): ActionType {
  if (actionType) return actionType
  if (/^https?:/i.test(actionUrl)) return 'webhook'
  if (/^(mqtts?|wss?):/i.test(actionUrl)) return 'mqtt'
  return 'email'
}
