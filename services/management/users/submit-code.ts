import { EyrieError } from '@eyrie/contract'
import { toNetwork } from '@eyrie/kit/client-network'
import type { Database, Transaction, Work } from '../db/database.ts'
import type { Principal } from '../rights/principal.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { admitUser, assertMaySignIn, lockUser } from './admit-user.ts'
import type { SessionClient, StartedSession } from './sessions.ts'
import { findChallengedUser, spendChallenge } from './sign-in-challenge.ts'
import { countAttempt, forgiveAttempt, type LimitSubject, listSignInSubjects } from './sign-in-limits.ts'
import { spendCode, wrongCode } from './totp/authenticator.ts'

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
 * Completes a sign-in with a code of the authenticator app, or with a recovery code. Throws `TooManyAttempts`, or `EyrieError`:
 * `auth` if the challenge has expired, `rights` if the code is wrong or was used before.
 */
export async function completeSignIn(
  database: Database,
  { challenge, code }: SecondStep,
  client: SessionClient,
  dependencies: CodeDependencies,
): Promise<StartedSession> {
  const { now } = dependencies
  const { user_id, email } = await database.system(SECOND_STEP, tx =>
    findChallengedUser(tx, challenge, now()),
  )
  const subjects = listSignInSubjects(email.toLowerCase(), toNetwork(client.address))
  const run: Run = work => database.system(SECOND_STEP, work)
  return runWithCode(database, { user_id, code, subjects, run }, dependencies, async tx => {
    await spendChallenge(tx, challenge)
    const current = await lockUser(tx, user_id)
    if (!current) throw new EyrieError('auth', 'this user does not exist any longer')
    assertMaySignIn(current)
    return admitUser(tx, user_id, client, now())
  })
}

/** Runs a change of the caller's authenticator app that requires a code of it, with the rights of the caller. */
export function confirmCode<T>(
  database: Database,
  { caller, operation, code }: { caller: Principal; operation: string; code: string },
  dependencies: CodeDependencies,
  work: Work<T>,
): Promise<T> {
  const run: Run = change => database.as(caller, operation, change)
  return runWithCode(database, { user_id: caller.user_id, code, subjects: [], run }, dependencies, work)
}

type Run = <T>(work: Work<T>) => Promise<T>

interface Submission {
  user_id: string
  code: string
  /** What the attempt counts for, in addition to the codes of the user. */
  subjects: LimitSubject[]
  /** Runs a transaction. */
  run: Run
}

/** Runs work in the transaction that spends the code. Counts the attempt, and forgives it if it succeeds. */
async function runWithCode<T>(
  database: Database,
  { user_id, code, subjects, run }: Submission,
  { secrets, now }: CodeDependencies,
  work: Work<T>,
): Promise<T> {
  const limited: LimitSubject[] = [...subjects, { kind: 'code', name: user_id }]
  const forEachSubject = (change: (tx: Transaction, subject: LimitSubject) => Promise<void>) =>
    database.system(SECOND_STEP, async tx => {
      for (const subject of limited) await change(tx, subject)
    })

  await forEachSubject((tx, subject) => countAttempt(tx, subject, now()))
  const result = await run(async tx => {
    const isCorrect = await spendCode(tx, user_id, code, { secrets, now: now() })
    return isCorrect ? { value: await work(tx) } : undefined
  })
  if (!result) throw wrongCode()
  await forEachSubject(forgiveAttempt)
  return result.value
}
