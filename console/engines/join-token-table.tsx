import type { JoinToken } from '@eyrie/contract/management/managed-engine'

interface JoinTokenTableProps {
  tokens: readonly JoinToken[]
  onDelete(joinTokenId: string): void
}

/** Lists the join tokens, each with a button that deletes it. */
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
              <button type="button" aria-label={`Delete ${name}`} onClick={() => onDelete(join_token_id)}>
                Delete
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const formatDate = (time: string | null) => (time === null ? 'never' : new Date(time).toLocaleDateString())
