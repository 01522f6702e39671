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
        {tokens.map(token => (
          <JoinTokenRows
            key={token.join_token_id}
            token={token}
            onDelete={() => onDelete(token.join_token_id)}
          />
        ))}
      </tbody>
    </table>
  )
}

interface JoinTokenRowsProps {
  token: JoinToken
  onDelete(): void
}

/**
 * The row of a token. The confirmation appears in a row below it, so that a double
 * click deletes nothing.
 */
function JoinTokenRows({ token, onDelete }: JoinTokenRowsProps) {
  const { name, used_at, expires_at } = token
  const [isConfirming, setConfirming] = useState(false)
  const confirm = () => {
    setConfirming(false)
    onDelete()
  }
  return (
    <>
      <tr>
        <td>{name}</td>
        <td data-label="Last used">{formatDate(used_at)}</td>
        <td data-label="Expires">{formatDate(expires_at)}</td>
        <td>
          <button type="button" aria-label={`Delete ${name}`} onClick={() => setConfirming(true)}>
            Delete
          </button>
        </td>
      </tr>
      {isConfirming && (
        <tr>
          <td colSpan={4}>
            <p role="status">Delete the token {name}? No further engine can register with it.</p>
            <button type="button" class="main" onClick={confirm}>
              Delete the token
            </button>{' '}
            <button type="button" onClick={() => setConfirming(false)}>
              Cancel
            </button>
          </td>
        </tr>
      )}
    </>
  )
}

const formatDate = (time: string | null) =>
  time === null ? 'never' : new Date(time).toLocaleDateString()
