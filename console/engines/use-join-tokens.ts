import type { JoinToken, NewJoinToken } from '@eyrie/contract/management/managed-engine'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callOperation } from '../api/call-operation.ts'
import { capitalize } from '../ui/format.ts'

interface JoinTokens {
  tokens: Signal<JoinToken[]>
  /**
   * Why the tokens could not be read, or one could not be deleted; empty if the last attempt
   * succeeded.
   */
  error: Signal<string>
  /**
   * Creates a token for engines of a site, or of all sites if `siteId` is empty. Returns the
   * secret.
   */
  create(name: string, siteId: string): Promise<string>
  delete(joinTokenId: string): Promise<void>
}

/** Reads the join tokens once, and again after each change. */
export function useJoinTokens(): JoinTokens {
  const tokens = useSignal<JoinToken[]>([])
  const error = useSignal('')

  const load = async () => {
    tokens.value = await callOperation<JoinToken[]>('/engine/join-tokens')
  }

  /** Shows the error of an action until the next action. */
  const showError = async (action: () => Promise<void>) => {
    error.value = ''
    try {
      await action()
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    }
  }

  useEffect(() => void showError(load), [])

  return {
    tokens,
    error,
    async create(name, siteId) {
      const input = { name, site_ids: siteId ? [siteId] : [] }
      const created = await callOperation<NewJoinToken>('/engine/create-join-token', input)
      await showError(load)
      return created.join_token
    },
    delete: joinTokenId =>
      showError(async () => {
        try {
          await callOperation('/engine/delete-join-token', { join_token_id: joinTokenId })
        } finally {
          // If another user has deleted the token, it disappears from the list.
          await load()
        }
      }),
  }
}
