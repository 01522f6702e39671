import { EyrieError } from '@eyrie/contract'
import { toNetwork } from '@eyrie/kit/client-network'
import type { Database, Work } from '../db/database.ts'
import type { Principal } from '../rights/principal.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { admitUser, assertMaySignIn, lockUser } from './admit-user.ts'
import type { SessionClient, StartedSession } from './sessions.ts'
import { normalizeEmail } from './sign-in.ts'
import { findChallengedUser, spendChallenge } from './sign-in-challenge.ts'
import {
  countAttempt,
  forgiveAttempt,
  type LimitSubject,
  listSignInSubjects,
} from './sign-in-limits.ts'
import { spendCode, wrongCode } from './totp/authenticator.ts'

/** The name of the transactions of a sign-in, and of counting attempts, in the audit log. */
const SIGN_IN_OPERATION = '/user/auth/code'

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
  const { user_id, email } = await database.system(SIGN_IN_OPERATION, tx =>
    findChallengedUser(tx, challenge, now()),
  )
  const attempt: CodeAttempt = {
    user_id,
    code,
    subjects: listSignInSubjects(normalizeEmail(email), toNetwork(client.address)),
    transact: work => database.system(SIGN_IN_OPERATION, work),
  }
  return runWithCode(database, attempt, dependencies, async tx => {
    await spendChallenge(tx, challenge)
    const current = await lockUser(tx, user_id)
    if (!current) throw new EyrieError('auth', 'this user does not exist any longer')
    assertMaySignIn(current)
    return admitUser(tx, user_id, client, now())
  })
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
  const attempt: CodeAttempt = {
    user_id: caller.user_id,
    code,
    subjects: [],
    transact: body => database.as(caller, operation, body),
  }
  return runWithCode(database, attempt, dependencies, work)
}

/** An attempt to use a code of a user. */
interface CodeAttempt {
  user_id: string
  code: string
  /** Subjects for which the attempt is counted, in addition to the codes of the user. */
  subjects: LimitSubject[]
  /** Runs a transaction with the rights that the work needs. */
  transact<T>(work: Work<T>): Promise<T>
}

/**
 * Accepts a code, which can be used once, and runs `work` in the same transaction. The attempt is
 * counted before that, and is forgiven after success.
 */
async function runWithCode<T>(
  database: Database,
  { user_id, code, subjects, transact }: CodeAttempt,
  { secrets, now }: CodeDependencies,
  work: Work<T>,
): Promise<T> {
  const countedSubjects: LimitSubject[] = [...subjects, { kind: 'code', name: user_id }]
  await database.system(SIGN_IN_OPERATION, async tx => {
    for (const subject of countedSubjects) await countAttempt(tx, subject, now())
  })
  const result = await transact(async tx => {
    const isCorrect = await spendCode(tx, user_id, code, { secrets, now: now() })
    // The value is wrapped, because it may be undefined itself.
    return isCorrect ? { value: await work(tx) } : undefined
  })
  if (!result) throw wrongCode()
  await database.system(SIGN_IN_OPERATION, async tx => {
    for (const subject of countedSubjects) await forgiveAttempt(tx, subject)
  })
  return result.value
}
