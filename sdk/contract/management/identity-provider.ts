import { z } from 'zod'
import { route } from './management-route.ts'
import { emptyOr, name, reference, referenceIds, text } from './record-fields.ts'
import { ROLE_KEYS } from './role.ts'

/**
 * The identity provider in the management API: a server with which users sign in instead of a
 * password (OpenID Connect Core 1.0, with the authorization code flow).
 */

/** The path of the console at which a browser starts a sign-in with the identity provider. */
export const PROVIDER_SIGN_IN_PATH = '/session/provider'
/** The path of the console to which the identity provider sends the browser back. */
export const PROVIDER_CALLBACK_PATH = `${PROVIDER_SIGN_IN_PATH}/callback`

const MAX_GROUP_ROLES = 500
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]']

/**
 * Without TLS, an attacker on the network could sign in as any user. Connections within this
 * machine need no TLS.
 */
function isSecureUrl(value: string): boolean {
  const url = URL.parse(value)
  return (
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOCAL_HOSTS.includes(url.hostname))
  )
}

const isOrigin = (value: string) => URL.parse(value)?.origin === value
/** OpenID Connect Discovery 1.0, section 3. */
const isIssuer = (value: string) => !/[?#@]/.test(value)

/**
 * The role of the members of a group, and the organization, customers and sites to
 * which it is limited.
 */
const groupRole = z.strictObject({
  group: name,
  role_key: z.enum(ROLE_KEYS),
  organization_id: reference('organization').nullable().default(null),
  customer_ids: referenceIds('customer').default([]),
  site_ids: referenceIds('site').default([]),
})
export type GroupRole = z.output<typeof groupRole>

export const oidcSettings = z
  .object({
    oidc_enabled: z.boolean(),
    oidc_name: text.meta({ description: 'The name of the provider on the sign-in page' }),
    oidc_issuer: emptyOr(
      value => isSecureUrl(value) && isIssuer(value),
      'must be an https:// address',
    ).meta({
      description:
        'The address under which the provider publishes /.well-known/openid-configuration',
    }),
    oidc_client_id: text.meta({ description: 'Id of this appliance at the provider' }),
    oidc_client_secret: text,
    oidc_scopes: text
      .refine(value => value.split(/\s+/).includes('openid'), { error: 'must contain openid' })
      .meta({ description: 'Separated by spaces' }),
    oidc_groups_claim: name.meta({ description: "The claim that contains the user's groups" }),
    oidc_group_roles: z
      .array(groupRole)
      .max(MAX_GROUP_ROLES)
      .meta({ description: 'The role of each group of the provider' }),
    oidc_creates_users: z
      .boolean()
      .meta({ description: 'Whether the first sign-in creates the user' }),
    oidc_links_by_email: z.boolean().meta({
      description:
        'Whether the first sign-in takes over an existing user with the same e-mail address, if the provider has verified the address',
    }),
    oidc_console_url: emptyOr(
      value => isSecureUrl(value) && isOrigin(value),
      'must be an https:// address without a path',
    ).meta({
      description: `The address of the console in browsers. The provider must accept it with the path ${PROVIDER_CALLBACK_PATH}`,
    }),
  })
  .meta({ id: 'OidcSettings' })
export type OidcSettings = z.infer<typeof oidcSettings>

export const identityProviderRoutes = {
  getOidc: route({
    method: 'get',
    path: '/config/oidc',
    summary: 'Get the settings of the identity provider',
    description:
      'The secret of the client is ***. The `ETag` of the response makes an update fail if somebody else has changed the settings since.',
    access: 'own',
    hasEtag: true,
    status: 200,
    response: oidcSettings,
  }),

  updateOidc: route({
    method: 'post',
    path: '/config/oidc/update',
    summary: 'Update the settings of the identity provider',
    description:
      'Omitted fields are preserved. The secret of the client has to be sent again when the issuer changes. Users who are connected with another issuer, or with a provider that is switched off, sign in with their passwords.',
    access: 'own',
    requiresSession: true,
    body: oidcSettings.strict().partial(),
    hasEtag: true,
    status: 200,
    response: null,
  }),
}
