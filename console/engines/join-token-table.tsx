import type { JoinToken } from '@eyrie/contract/management/managed-engine'
import { useState } from 'preact/hooks'

interface JoinTokenTableProps {
  tokens: readonly JoinToken[]
  onDelete(joinTokenId: string): void
}

/** Lists the join tokens, each with a button that deletes it after a confirmation. */
export function JoinTokenTable({ tokens, onDelete }: JoinTokenTableProps) {
  return (
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
        {tokens.map(({ join_token_id, name, used_at, expires_at }) => (
          <tr key={join_token_id}>
            <td>{name}</td>
            <td data-label="Last used">{formatDate(used_at)}</td>
            <td data-label="Expires">{formatDate(expires_at)}</td>
            <td>
              <DeleteButton name={name} onDelete={() => onDelete(join_token_id)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A button that asks for a confirmation. The button to cancel takes its place, so that a double click deletes nothing. */
function DeleteButton({ name, onDelete }: { name: string; onDelete(): void }) {
  const [isConfirming, setConfirming] = useState(false)
  if (!isConfirming)
    return (
      <button type="button" aria-label={`Delete ${name}`} onClick={() => setConfirming(true)}>
        Delete
      </button>
    )

  const confirm = () => {
    setConfirming(false)
    onDelete()
  }
  return (
    <>
      <button type="button" onClick={() => setConfirming(false)}>
        Cancel
      </button>{' '}
      <button type="button" onClick={confirm}>
        Delete the token {name}
      </button>
      <p class="hint" role="status">
        No further engine can register with it.
      </p>
    </>
  )
}

const formatDate = (time: string | null) => (time === null ? 'never' : new Date(time).toLocaleDateString())
