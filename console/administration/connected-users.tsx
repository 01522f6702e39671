import type { User } from '@eyrie/contract/management/index'
import { useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { callOperation } from '../api/call-operation.ts'
import { capitalize } from '../ui/format.ts'

/** Lists the users who are connected with an account at the identity provider. */
export function ConnectedUsers() {
  const users = useSignal<User[] | undefined>(undefined)
  const error = useSignal('')
  /** Runs an operation, and then reads the users again. */
  async function load(operation: () => Promise<unknown> = async () => {}) {
    error.value = ''
    try {
      await operation()
      const all = await callOperation<User[]>('/user/list')
      users.value = all.filter(({ is_connected }) => is_connected)
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    }
  }
  const disconnect = (userId: string) =>
    load(() => callOperation('/user/identity/delete', { user_id: userId }))
  useEffect(() => void load(), [])

  return (
    <section aria-label="Connected users">
      <h2>Connected users</h2>
      {users.value?.length === 0 && <p>No user is connected with an account at the provider.</p>}
      {users.value?.map(user => (
        <ConnectedUser
          key={user.user_id}
          user={user}
          onDisconnect={() => disconnect(user.user_id)}
        />
      ))}
      <p class="error" role="alert">
        {error.value}
      </p>
    </section>
  )
}

interface ConnectedUserProps {
  user: User
  onDisconnect(): void
}

/** A user. The confirmation appears below, so that a double click has no effect. */
function ConnectedUser({ user: { email }, onDisconnect }: ConnectedUserProps) {
  const [isConfirming, setConfirming] = useState(false)
  const confirm = () => {
    setConfirming(false)
    onDisconnect()
  }
  return (
    <>
      <p>
        {email}{' '}
        <button
          type="button"
          aria-label={`Disconnect ${email}`}
          onClick={() => setConfirming(true)}
        >
          Disconnect
        </button>
      </p>
      {isConfirming && (
        <>
          <p role="status">
            Disconnect {email}? This ends all sessions of the user and deletes the API tokens. The
            password from before, if there was one, counts again.
          </p>
          <div class="buttons">
            <button type="button" class="main" onClick={confirm}>
              Disconnect the user
            </button>
            <button type="button" onClick={() => setConfirming(false)}>
              Cancel
            </button>
          </div>
        </>
      )}
    </>
  )
}
