import { z } from 'zod'
import { route } from './management-route.ts'
import { jsonObject, recordId, reference, referenceIds, text, timestamp } from './record-fields.ts'

/** Users in the management API: their accounts, and the records to which they have access. */

/**
 * An e-mail address. Local addresses such as `admin@localhost` are valid, as in
 * `<input type="email">` of HTML.
 */
export const email = z
  .email({ pattern: z.regexes.html5Email, error: 'must be an e-mail address' })
  .max(254)

/**
 * Hashing takes longer for a longer password, so that an unlimited one could keep the service busy.
 */
export const MAX_PASSWORD_LENGTH = 1024

/** The records that are assigned to a user, and the console settings of the user. */
export const userConfig = z
  .object({
    user_id: recordId,
    role_id: recordId.nullable(),
    organization_id: recordId.nullable(),
    channel_ids: z.array(recordId),
    customer_ids: z.array(recordId),
    site_ids: z.array(recordId),
    usecase_ids: z.array(recordId),
    ui_config: jsonObject,
  })
  .meta({ id: 'UserConfig' })
export type UserConfig = z.infer<typeof userConfig>

/** A user account. */
export const user = z
  .object({
    ...userConfig.shape,
    email: z.string(),
    first_name: z.string(),
    last_name: z.string(),
    user_name: z
      .string()
      .meta({ description: 'Name to show: first and last name, or else the e-mail address' }),
    avatar: z.string(),
    role_key: z.string().meta({ description: 'Empty until an administrator assigns a role' }),
    role_wish: z
      .string()
      .meta({ description: 'Role requested at registration; it grants no permissions' }),
    is_active: z.boolean().meta({
      description: 'Whether the account is enabled. Only enabled and verified users can sign in',
    }),
    is_verified: z
      .boolean()
      .meta({ description: 'Whether an administrator has confirmed the user' }),
    is_connected: z.boolean().meta({
      description: 'Whether the user is connected with an account at an identity provider',
    }),
    last_logged_in_at: timestamp.nullable(),
  })
  .meta({ id: 'User' })
export type User = z.infer<typeof user>

/** Fields that clients may send back as they have read them. They have no effect. */
const READ_ONLY_FIELDS = [
  'user_name',
  'avatar',
  'role_key',
  'role_wish',
  'is_active',
  'is_verified',
  'is_connected',
  'last_logged_in_at',
  'channel_ids',
  'customer_ids',
  'site_ids',
  'usecase_ids',
  'ui_config',
  'user_config',
]

const byId = z.strictObject({ user_id: reference('user') })

/** A change of a `UserConfig`. Omitted fields are preserved. */
const userConfigInput = z.strictObject({
  user_id: reference('user').optional(),
  role_id: reference('role').nullable().optional(),
  organization_id: reference('organization').nullable().optional(),
  channel_ids: referenceIds('channel').optional(),
  customer_ids: referenceIds('customer').optional(),
  site_ids: referenceIds('site').optional(),
  usecase_ids: referenceIds('usecase').optional(),
  ui_config: jsonObject.optional(),
})

export const userRoutes = {
  get: route({
    method: 'post',
    path: '/user/id',
    summary: 'Get a user',
    access: 'signed-in',
    readOnly: true,
    body: byId,
    status: 200,
    response: user,
  }),

  getCurrent: route({
    method: 'get',
    path: '/user/info',
    summary: 'Get the current user',
    access: 'signed-in',
    status: 200,
    response: user.extend({ user_config: userConfig }).meta({ id: 'UserInfo' }),
  }),

  list: route({
    method: 'get',
    path: '/user/list',
    summary: 'List users',
    access: 'view',
    status: 200,
    response: z.array(user),
  }),

  update: route({
    method: 'post',
    path: '/user/update',
    summary: 'Update a user',
    access: 'signed-in',
    requiresSession: true,
    body: byId.extend({
      email,
      role_id: reference('role').nullable(),
      change_password: z.boolean(),
      password: z.string().max(MAX_PASSWORD_LENGTH).optional(),
      confirm_password: z.string().max(MAX_PASSWORD_LENGTH).optional(),
      current_password: z.string().max(MAX_PASSWORD_LENGTH).optional().meta({
        description:
          'Your own password. Required to change a password or an e-mail address, unless you have signed in within the last five minutes',
      }),
      first_name: text.optional(),
      last_name: text.optional(),
      organization_id: reference('organization').nullable().optional(),
    }),
    ignoredFields: READ_ONLY_FIELDS,
    status: 200,
    response: user,
  }),

  delete: route({
    method: 'post',
    path: '/user/delete',
    summary: 'Delete a user',
    access: 'administer',
    requiresSession: true,
    body: byId,
    status: 200,
    response: null,
  }),

  setStatus: route({
    method: 'post',
    path: '/user/status',
    summary: 'Verify, activate or deactivate a user',
    access: 'administer',
    requiresSession: true,
    body: byId.extend({ is_active: z.boolean(), is_verified: z.boolean() }),
    status: 200,
    response: user,
  }),

  deleteIdentity: route({
    method: 'post',
    path: '/user/identity/delete',
    summary: 'Disconnect a user from the identity provider',
    description:
      "The user's password counts again until a sign-in with the provider connects the user with another account. Ends the user's sessions and deletes the API tokens.",
    access: 'administer',
    requiresSession: true,
    body: byId,
    status: 200,
    response: null,
  }),

  getConfig: route({
    method: 'post',
    path: '/user/config/id',
    summary: 'Get the assignments of a user',
    access: 'signed-in',
    readOnly: true,
    body: byId,
    ignoredFields: ['user_config'],
    status: 200,
    response: userConfig,
  }),

  updateConfig: route({
    method: 'post',
    path: '/user/config/update',
    summary: 'Update the assignments of a user',
    description: 'Omitted fields are preserved.',
    access: 'signed-in',
    requiresSession: true,
    body: byId.extend({ user_config: userConfigInput.default({}) }),
    status: 200,
    response: null,
  }),
}
