import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { isKnownToken, type Log, writeDurably } from '@eyrie/kit'
import { readJsonFile } from '@eyrie/kit/json-file'
import { z } from 'zod'
import { generateSecret, hashSecret } from './opaque-token.ts'

// Browsers on the appliance itself can show the live views without an account. The operator opens a
// link in such a browser. The link contains a key, which can be used once and starts a session.
// Unlike the sessions of users, these sessions need no database.

const DAY_MS = 86_400_000
/**
 * Lifetime of a session and of its cookie. It is long, because on a screen that only shows live
 * views, no one can open another link.
 */
export const LOCAL_SESSION_MS = 365 * DAY_MS
/** Maximum number of unused keys. The oldest is dropped: its link was probably never opened. */
const MAX_KEYS = 16
/** Maximum number of sessions. The oldest is dropped: such a browser needs another link. */
const MAX_SESSIONS = 100

const storedSessions = z.array(
  z.strictObject({ token_hash: z.string(), expires_at: z.iso.datetime() }),
)
type StoredSession = z.infer<typeof storedSessions>[number]

/** The sessions of browsers on the appliance itself. */
export interface LocalSessions {
  /** Returns the key of a new link. It is in memory only: a restart invalidates it. */
  createKey(): string
  /**
   * Starts a session and returns its token, or undefined if the key was used before or is wrong.
   */
  start(key: string): Promise<string | undefined>
  isActive(token: string | undefined): boolean
  end(token: string): Promise<void>
}

export interface LocalSessionsOptions {
  /** File with the hashes of the tokens, so that sessions outlive a restart. */
  file: string
  log: Pick<Log, 'warn'>
  now?(): Date
}

export function createLocalSessions({
  file,
  log,
  now = () => new Date(),
}: LocalSessionsOptions): LocalSessions {
  let keys: string[] = []
  let sessions = readSessions(file, log)

  /** Replaces the sessions. They apply even if they cannot be stored, such as on a full disk. */
  async function replaceSessions(replacement: StoredSession[]): Promise<void> {
    sessions = replacement
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      await writeDurably(file, JSON.stringify(sessions))
    } catch (err) {
      log.warn({ err, file }, 'failed to store the sessions of local browsers')
    }
  }

  const isUnexpired = ({ expires_at }: StoredSession) => now().getTime() < Date.parse(expires_at)

  return {
    createKey() {
      const key = generateSecret()
      keys = [...keys, key].slice(-MAX_KEYS)
      return key
    },

    async start(key) {
      if (!isKnownToken(key, keys)) return undefined
      keys = keys.filter(other => other !== key)
      const token = generateSecret()
      const expiresAt = new Date(now().getTime() + LOCAL_SESSION_MS).toISOString()
      const started = [
        ...sessions.filter(isUnexpired),
        { token_hash: hashSecret(token), expires_at: expiresAt },
      ]
      await replaceSessions(started.slice(-MAX_SESSIONS))
      return token
    },

    isActive(token) {
      if (!token) return false
      const tokenHash = hashSecret(token)
      return sessions.some(session => session.token_hash === tokenHash && isUnexpired(session))
    },

    async end(token) {
      const tokenHash = hashSecret(token)
      const remaining = sessions.filter(session => session.token_hash !== tokenHash)
      if (remaining.length < sessions.length) await replaceSessions(remaining)
    },
  }
}

/**
 * Returns the stored sessions. Returns none before the first session, and if the file is unreadable
 * or damaged: then the browsers need another link.
 */
function readSessions(file: string, log: LocalSessionsOptions['log']): StoredSession[] {
  try {
    return readJsonFile(file, storedSessions) ?? []
  } catch (err) {
    log.warn({ err, file }, 'failed to read the sessions of local browsers')
    return []
  }
}
