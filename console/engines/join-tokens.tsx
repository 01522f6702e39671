import type { JoinToken, NewJoinToken } from '@eyrie/contract/management/managed-engine'
import type { PlacementOverview } from '@eyrie/contract/management/placement'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callOperation } from '../api/api-request.ts'
import { capitalize } from '../ui/format.ts'
import { useSubmit } from '../ui/use-submit.ts'

/** The tokens with which engines register themselves, and a form that creates one. */
export function JoinTokens({ sites }: Pick<PlacementOverview, 'sites'>) {
  const tokens = useSignal<JoinToken[]>([])
  const loadError = useSignal('')
  /** The new token, which is shown only once. */
  const created = useSignal('')

  const load = async () => {
    try {
      tokens.value = await callOperation<JoinToken[]>('/engine/join-tokens')
      loadError.value = ''
    } catch (failure) {
      loadError.value = capitalize((failure as Error).message)
    }
  }
  useEffect(() => void load(), [])

  const { error, isSubmitting, onSubmit } = useSubmit(async fields => {
    created.value = ''
    const site_id = String(fields.get('site_id'))
    const input = { name: String(fields.get('name')).trim(), site_ids: site_id ? [site_id] : [] }
    created.value = (await callOperation<NewJoinToken>('/engine/create-join-token', input)).join_token
    await load()
  })
  const remove = async (join_token_id: string) => {
    await callOperation('/engine/delete-join-token', { join_token_id }).catch(() => {})
    await load()
  }

  return (
    <section class="panel" aria-label="Add engines">
      <h2>Add engines</h2>
      <p class="hint">
        An engine registers itself with a join token. Set <code>EYRIE_JOIN_TOKEN</code> and{' '}
        <code>EYRIE_MANAGEMENT_URL={location.origin}</code> on its machine.
      </p>
      <form class="row" onSubmit={onSubmit} autocomplete="off">
        <label>
          Name of the token
          <input name="name" required maxLength={100} />
        </label>
        <label>
          Its engines serve
          <select name="site_id">
            <option value="">all sites</option>
            {sites.map(({ site_id, site_name }) => (
              <option key={site_id} value={site_id}>
                {site_name}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="main" disabled={isSubmitting.value}>
          Create a join token
        </button>
      </form>
      {created.value && (
        <p role="status">
          <code class="token">{created.value}</code> It is not shown again.
        </p>
      )}
      {(error.value || loadError.value) && (
        <p class="error" role="alert">
          {error.value || loadError.value}
        </p>
      )}
      {tokens.value.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>Token</th>
              <th>Last used</th>
              <th>Expires</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {tokens.value.map(({ join_token_id, name, used_at, expires_at }) => (
              <tr key={join_token_id}>
                <td>{name}</td>
                <td data-label="Last used">{formatDate(used_at) ?? 'never'}</td>
                <td data-label="Expires">{formatDate(expires_at) ?? 'never'}</td>
                <td>
                  <button type="button" aria-label={`Delete ${name}`} onClick={() => remove(join_token_id)}>
                    Delete
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const formatDate = (time: string | null) => (time === null ? undefined : new Date(time).toLocaleDateString())
