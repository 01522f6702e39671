import { EyrieError } from '@eyrie/contract'
import { type ManagementRoute, totpRoutes } from '@eyrie/contract/management/index'
import type { Database, Transaction, Work } from '../../../db/database.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Principal } from '../../../rights/principal.ts'
import { lockUser } from '../../../users/admit-user.ts'
import { isSignedInByProvider } from '../../../users/oidc/identities.ts'
import type { Passwords } from '../../../users/passwords.ts'
import { type CodeDependencies, confirmCode } from '../../../users/submit-code.ts'
import {
  confirmAuthenticator,
  enrollAuthenticator,
  findAuthenticator,
  removeAuthenticator,
  renewRecoveryCodes,
} from '../../../users/totp/authenticator.ts'
import { countRecoveryCodes } from '../../../users/totp/recovery-codes.ts'
import { assertCanManage, assertUserChanged } from '../../../users/user-authority.ts'
import { describeUser } from '../../../users/user-queries.ts'
import {
  defineMultiStepOperation,
  defineOperation,
  type Input,
  type Operation,
} from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'
import { assertPasswordConfirmed, type Caller } from '../../auth/confirm-caller.ts'
import { addRetryAfter } from '../../auth/request-client.ts'

export interface TotpOperationsOptions extends CodeDependencies {
  passwords: Passwords
}

const OWN_APP = `is you: ${totpRoutes.disableTotp.path} removes your own authenticator app`

/** A call in which callers confirm their own password. */
interface PasswordCall extends Caller {
  input: { current_password?: string | undefined }
}

/** A call in which callers also send a code of their own authenticator app. */
interface CodeCall extends PasswordCall {
  input: PasswordCall['input'] & { code: string }
}

/**
 * API operations on authenticator apps. A user with such an app sends a code of the app as the
 * second step of a sign-in.
 */
export function totpOperations({ passwords, secrets, now }: TotpOperationsOptions): Operation[] {
  const checkPassword = (database: Database, call: PasswordCall) =>
    assertPasswordConfirmed(database, call, call.input.current_password, { passwords, now })

  /** Checks the password and the code of a call. Runs `work` if both are correct. */
  async function runConfirmed<T>(
    database: Database,
    route: ManagementRoute,
    call: CodeCall,
    work: Work<T>,
  ): Promise<T> {
    await checkPassword(database, call)
    const { caller, context, input } = call
    const submission = { caller, operation: route.path, code: input.code }
    return addRetryAfter(context, confirmCode(database, submission, { secrets, now }, work))
  }

  return [
    defineOperation(totpRoutes.getTotp, async ({ caller: { user_id: userId } }, tx) => {
      const authenticator = await findAuthenticator(tx, userId)
      return {
        value: {
          is_enabled: authenticator !== undefined,
          enabled_at: authenticator?.confirmed_at ?? null,
          recovery_codes_left: await countRecoveryCodes(tx, userId),
          has_provider: await isSignedInByProvider(tx, userId),
        },
      }
    }),

    defineMultiStepOperation(totpRoutes.enrollTotp, async (call, database) => {
      const { caller } = call
      await checkPassword(database, call)
      const enrolment = await database.as(caller, totpRoutes.enrollTotp.path, async tx => {
        const { user_id, email } = await describeUser(tx, caller.user_id)
        if (await isSignedInByProvider(tx, user_id)) {
          throw new EyrieError(
            'conflict',
            'your identity provider signs you in: register the app there',
          )
        }
        return enrollAuthenticator(tx, { user_id, email }, secrets, now())
      })
      return { value: enrolment }
    }),

    defineOperation(totpRoutes.confirmTotp, async ({ input: { code }, caller }, tx) => {
      const recoveryCodes = await confirmAuthenticator(tx, caller.user_id, code, {
        secrets,
        now: now(),
      })
      return { value: { recovery_codes: recoveryCodes } }
    }),

    defineMultiStepOperation(totpRoutes.renewRecoveryCodes, async (call, database) => {
      const { user_id: userId } = call.caller
      const recoveryCodes = await runConfirmed(database, totpRoutes.renewRecoveryCodes, call, tx =>
        renewRecoveryCodes(tx, userId, now()),
      )
      return { value: { recovery_codes: recoveryCodes } }
    }),

    defineMultiStepOperation(totpRoutes.disableTotp, async (call, database) => {
      const { user_id: userId } = call.caller
      await runConfirmed(database, totpRoutes.disableTotp, call, tx =>
        removeAuthenticator(tx, userId),
      )
    }),

    defineMultiStepOperation(totpRoutes.resetTotp, async (call, database) => {
      const { input, caller } = call
      const { path } = totpRoutes.resetTotp
      const { user_id: userId } = input
      if (userId === caller.user_id) throw fieldError('user_id', OWN_APP, { code: 'conflict' })

      // The rights are checked before the password, so that an unauthorized caller learns the
      // reason. They are checked again in the transaction that removes the app.
      await database.as(caller, path, tx => assertCanReset(tx, caller, input))
      await checkPassword(database, call)
      await database.as(caller, path, async tx => {
        await assertCanReset(tx, caller, input)
        await removeAuthenticator(tx, userId)
      })
    }),
  ]
}

/**
 * Throws `EyrieError` if the caller may not remove the authenticator app of another user. Locks the
 * row of this user.
 */
async function assertCanReset(
  tx: Transaction,
  caller: Principal,
  input: Input<typeof totpRoutes.resetTotp>,
): Promise<void> {
  await assertReferencesExist(tx, totpRoutes.resetTotp, input)
  assertCanManage(caller, await describeUser(tx, input.user_id))
  // Postgres locks only rows that the caller may change.
  const lockedUser = await lockUser(tx, input.user_id)
  assertUserChanged(lockedUser ? [lockedUser] : [])
}
