import { EyrieError } from '@eyrie/contract'
import { managementRoutes } from '@eyrie/contract/management/index'
import { getRequestClient } from '@eyrie/kit/client/request-client'
import type { Context } from 'hono'
import type { Database, Transaction } from '../../../db/database.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Principal } from '../../../rights/principal.ts'
import { lockUser } from '../../../users/admit-user.ts'
import { confirmPassword } from '../../../users/confirm-password.ts'
import { hasIdentity } from '../../../users/oidc/identities.ts'
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
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'
import { addRetryAfter } from '../../auth/request-client.ts'

const routes = managementRoutes.user

export interface TotpOperationsOptions extends CodeDependencies {
  passwords: Passwords
}

interface Confirmed {
  caller: Principal
  context: Context
  /** The caller's own password. */
  current_password: string | undefined
}

/** API operations on the authenticator app of a user, whose codes are the second step of a sign-in. */
export function totpOperations({ passwords, secrets, now }: TotpOperationsOptions): Operation[] {
  const confirm = (database: Database, { caller, context, current_password }: Confirmed) => {
    // The routes are not open to API tokens, so there is a session.
    const session_id = caller.session_id!
    const confirmation = { caller, session_id, current_password, address: getRequestClient(context).address }
    return addRetryAfter(context, confirmPassword(database, confirmation, { passwords, now }))
  }

  return [
    defineOperation(routes.totp, async ({ caller: { user_id } }, tx) => {
      const authenticator = await findAuthenticator(tx, user_id)
      const recovery_codes_left = await countRecoveryCodes(tx, user_id)
      const enabled_at = authenticator?.confirmed_at ?? null
      return {
        value: {
          is_enabled: authenticator !== undefined,
          enabled_at,
          recovery_codes_left,
          has_provider: await hasIdentity(tx, user_id),
        },
      }
    }),

    defineMultiStepOperation(routes.enrollTotp, async ({ input, caller, context }, database) => {
      await confirm(database, { caller, context, current_password: input.current_password })
      const { path } = routes.enrollTotp
      const enrolment = await database.as(caller, path, async tx => {
        const { user_id, email } = await describeUser(tx, caller.user_id)
        if (await hasIdentity(tx, user_id))
          throw new EyrieError('conflict', 'your identity provider signs you in: register the app there')
        return enrollAuthenticator(tx, { user_id, email }, secrets, now())
      })
      return { value: enrolment }
    }),

    defineOperation(routes.confirmTotp, async ({ input: { code }, caller }, tx) => {
      const recovery_codes = await confirmAuthenticator(tx, caller.user_id, code, { secrets, now: now() })
      return { value: { recovery_codes } }
    }),

    defineMultiStepOperation(routes.renewRecoveryCodes, async ({ input, caller, context }, database) => {
      const { current_password, code } = input
      await confirm(database, { caller, context, current_password })
      const submission = { caller, operation: routes.renewRecoveryCodes.path, code }
      const renewal = confirmCode(database, submission, { secrets, now }, tx =>
        renewRecoveryCodes(tx, caller.user_id, now()),
      )
      return { value: { recovery_codes: await addRetryAfter(context, renewal) } }
    }),

    defineMultiStepOperation(routes.disableTotp, async ({ input, caller, context }, database) => {
      const { current_password, code } = input
      await confirm(database, { caller, context, current_password })
      const submission = { caller, operation: routes.disableTotp.path, code }
      const removal = confirmCode(database, submission, { secrets, now }, tx =>
        removeAuthenticator(tx, caller.user_id),
      )
      await addRetryAfter(context, removal)
      return undefined
    }),

    defineMultiStepOperation(routes.resetTotp, async ({ input, caller, context }, database) => {
      const { path } = routes.resetTotp
      const { user_id, current_password } = input
      if (user_id === caller.user_id)
        throw fieldError('user_id', `is you: ${routes.disableTotp.path} removes your own authenticator app`, {
          code: 'conflict',
        })
      const assertAllowed = async (tx: Transaction) => {
        await assertReferencesExist(tx, routes.resetTotp, input)
        assertCanManage(caller, await describeUser(tx, user_id))
        // Only users whom the caller may change can be locked.
        const lockedUser = await lockUser(tx, user_id)
        assertUserChanged(lockedUser ? [lockedUser] : [])
      }
      await database.as(caller, path, assertAllowed)
      await confirm(database, { caller, context, current_password })
      await database.as(caller, path, async tx => {
        await assertAllowed(tx)
        await removeAuthenticator(tx, user_id)
      })
      return undefined
    }),
  ]
}
