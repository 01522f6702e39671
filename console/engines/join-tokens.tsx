import type { PlacementOverview } from '@eyrie/contract/management/placement'
import { useSignal } from '@preact/signals'
import { useSubmit } from '../ui/use-submit.ts'
import { JoinTokenTable } from './join-token-table.tsx'
import { useJoinTokens } from './use-join-tokens.ts'

/** Lists the tokens with which engines register themselves, and creates further ones. */
export function JoinTokens({ sites }: Pick<PlacementOverview, 'sites'>) {
  const joinTokens = useJoinTokens()
  /** The secret of the new token, which only the response to its creation contains. */
  const createdToken = useSignal('')

  const { error, isSubmitting, onSubmit } = useSubmit(async fields => {
    createdToken.value = ''
    const name = String(fields.get('name')).trim()
    createdToken.value = await joinTokens.create(name, String(fields.get('site_id')))
  })
  const shownError = error.value || joinTokens.error.value

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
      {createdToken.value && (
        <p role="status">
          <code class="token">{createdToken.value}</code> Copy this token now: it cannot be shown
          again.
        </p>
      )}
      {shownError && (
        <p class="error" role="alert">
          {shownError}
        </p>
      )}
      {joinTokens.tokens.value.length > 0 && (
        <JoinTokenTable tokens={joinTokens.tokens.value} onDelete={joinTokens.delete} />
      )}
    </section>
  )
}
