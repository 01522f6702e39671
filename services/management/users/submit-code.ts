import { EyrieError } from '@eyrie/contract'
import { toNetwork } from '@eyrie/kit/client-network'
import type { Database, Work } from '../db/database.ts'
import type { Principal } from '../rights/principal.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { admitUser, assertMaySignIn, lockUser } from './admit-user.ts'
import type { SessionClient, StartedSession } from './sessions.ts'
import { findChallengedUser, spendChallenge } from './sign-in-challenge.ts'
import {
  countAttempt,
  forgiveAttempt,
  type LimitSubject,
  listSignInSubjects,
} from './sign-in-limits.ts'
import { spendCode, wrongCode } from './totp/authenticator.ts'

/** The name of these transactions in the audit log. */
const SECOND_STEP = '/user/auth/code'

export interface CodeDependencies {
  secrets: Secrets
  now(): Date
}

interface SecondStep {
  challenge: string
  code: string
}

/**
 * Completes a sign-in with a code of the authenticator app, or with a recovery code. Throws
 * `TooManyAttempts`, or `EyrieError`: `auth` if the challenge has expired, `rights` if the code is
 * wrong or was used before.
 */
export async function completeSignIn(
  database: Database,
  { challenge, code }: SecondStep,
  client: SessionClient,
  dependencies: CodeDependencies,
): Promise<StartedSession> {
  const { now } = dependencies
  const { user_id: userId, email } = await database.system(SECOND_STEP, tx =>
    findChallengedUser(tx, challenge, now()),
  )
  const subjects = listSignInSubjects(email.toLowerCase(), toNetwork(client.address))
  const transact: Transact = body => database.system(SECOND_STEP, body)
  return runWithCode(
    database,
    { user_id: userId, code, subjects, transact },
    dependencies,
    async tx => {
      await spendChallenge(tx, challenge)
      const current = await lockUser(tx, userId)
      if (!current) throw new EyrieError('auth', 'this user does not exist any longer')
      assertMaySignIn(current)
      return admitUser(tx, userId, client, now())
    },
  )
}

/**
 * Runs a change of the caller's authenticator app, which requires a code of the app or a recovery
 * code. `work` runs with the rights of the caller. Throws `TooManyAttempts`, or `EyrieError`
 * (`rights`) if the code is wrong or was used before.
 */
export function confirmCode<T>(
  database: Database,
  { caller, operation, code }: { caller: Principal; operation: string; code: string },
  dependencies: CodeDependencies,
  work: Work<T>,
): Promise<T> {
  const transact: Transact = body => database.as(caller, operation, body)
  const attempt = { user_id: caller.user_id, code, subjects: [], transact }
  return runWithCode(database, attempt, dependencies, work)
}

/** Runs work in a transaction. */
type Transact = <T>(work: Work<T>) => Promise<T>

interface CodeAttempt {
  user_id: string
  code: string
  /** Subjects for which the attempt is counted, in addition to the codes of the user. */
  subjects: LimitSubject[]
  /** Runs the transaction, with the rights that the work needs. */
  transact: Transact
}

/**
 * Accepts a code, which can be used once, and runs `work` in the same transaction. The attempt is
 * counted before that, and is forgiven after success.
 */
async function runWithCode<T>(
  database: Database,
  { user_id: userId, code, subjects, transact }: CodeAttempt,
  { secrets, now }: CodeDependencies,
  work: Work<T>,
): Promise<T> {
  const countedSubjects: LimitSubject[] = [...subjects, { kind: 'code', name: userId }]
  await database.system(SECOND_STEP, async tx => {
    for (const subject of countedSubjects) await countAttempt(tx, subject, now())
  })
  const result = await transact(async tx => {
    const isCorrect = await spendCode(tx, userId, code, { secrets, now: now() })
    return isCorrect ? { value: await work(tx) } : undefined
  })
  if (!result) throw wrongCode()
  await database.system(SECOND_STEP, async tx => {
    for (const subject of countedSubjects) await forgiveAttempt(tx, subject)
  })
  return result.value
}
