import { EyrieError } from '@eyrie/contract'
import { email, type OidcSettings, PROVIDER_CALLBACK_PATH } from '@eyrie/contract/management/index'
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { z } from 'zod'
import { isStorable } from '../../db/schema/columns.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { ProviderClient } from './provider-client.ts'

// A sign-in with the identity provider: the browser goes to the provider and comes back with a
// code, which the appliance exchanges for an ID token. State, nonce and the verifier of PKCE (RFC
// 7636) bind the code to the browser that has started the sign-in.

export const SIGN_IN_MINUTES = 10

/**
 * Longer claims about a user are ignored. OpenID Connect limits subjects to this length
 * (Core 1.0, section 2).
 */
const MAX_CLAIM_LENGTH = 255

/** The state of a sign-in. The browser stores it, encrypted, until it comes back. */
const pendingSignIn = z.strictObject({
  purpose: z.literal('sign-in with provider'),
  issuer: z.string(),
  client_id: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  expires_at: z.number(),
})
type PendingSignIn = z.infer<typeof pendingSignIn>

/** The account with which a user has signed in at the provider. */
export interface ProviderAccount {
  issuer: string
  subject: string
  /** Undefined unless the provider has verified that it belongs to the user. */
  email: string | undefined
  first_name: string
  last_name: string
  groups: string[]
}

export interface AuthorizationDependencies {
  provider: ProviderClient
  secrets: Secrets
  now(): Date
}

/**
 * Returns the address of the provider to which the browser goes, and the encrypted
 * state of the sign-in.
 */
export async function startAuthorization(
  settings: OidcSettings,
  { provider, secrets, now }: AuthorizationDependencies,
): Promise<{ url: URL; encryptedState: string }> {
  const configuration = await provider.connect(settings)
  const { oidc_issuer: issuer, oidc_client_id: clientId } = settings
  const pending: PendingSignIn = {
    purpose: 'sign-in with provider',
    issuer,
    client_id: clientId,
    state: randomState(),
    nonce: randomNonce(),
    verifier: randomPKCECodeVerifier(),
    expires_at: now().getTime() + SIGN_IN_MINUTES * 60_000,
  }
  const url = buildAuthorizationUrl(configuration, {
    redirect_uri: getCallbackUrl(settings),
    scope: settings.oidc_scopes,
    code_challenge: await calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    state: pending.state,
    nonce: pending.nonce,
  })
  return { url, encryptedState: secrets.encrypt(JSON.stringify(pending)) }
}

/**
 * Exchanges the code with which the browser has come back for an ID token, and verifies its
 * signature, issuer, audience, expiry and nonce. `query` is the query of the address at
 * which the browser has come back. Throws `EyrieError` with a reason for the user. If the
 * provider or the browser has sent an invalid response, throws another error, whose message
 * is not meant for the user.
 */
export async function finishAuthorization(
  settings: OidcSettings,
  { query, encryptedState }: { query: string; encryptedState: string | undefined },
  { provider, secrets, now }: AuthorizationDependencies,
): Promise<ProviderAccount> {
  const { oidc_issuer: issuer, oidc_client_id: clientId } = settings
  const pending = encryptedState === undefined ? undefined : readPending(encryptedState, secrets)
  const isCurrent = pending?.issuer === issuer && pending.client_id === clientId
  if (!pending || !isCurrent || now().getTime() > pending.expires_at) {
    throw new EyrieError(
      'auth',
      'this sign-in was not started in this browser, or has expired: start again',
    )
  }

  const configuration = await provider.connect(settings)
  const callback = new URL(getCallbackUrl(settings))
  callback.search = query
  const tokens = await authorizationCodeGrant(configuration, callback, {
    pkceCodeVerifier: pending.verifier,
    expectedState: pending.state,
    expectedNonce: pending.nonce,
    idTokenExpected: true,
  }).catch(cause => {
    // The query contains the provider's reason for a refusal.
    if (cause instanceof AuthorizationResponseError) {
      throw new EyrieError(
        'auth',
        `${settings.oidc_name} has refused the sign-in (${cause.error})`,
        {
          cause,
        },
      )
    }
    throw cause
  })

  // `idTokenExpected` guarantees the ID token.
  const idToken = tokens.claims()!
  const claims = {
    ...(await readUserInfo(configuration, settings, tokens.access_token, idToken)),
    ...idToken,
  }
  return toAccount(issuer, claims, settings.oidc_groups_claim)
}

/** The address at which the browser comes back. */
const getCallbackUrl = (settings: OidcSettings) =>
  settings.oidc_console_url + PROVIDER_CALLBACK_PATH

/** Returns undefined for a state that this appliance has not encrypted. */
function readPending(encryptedState: string, secrets: Secrets): PendingSignIn | undefined {
  try {
    return pendingSignIn.parse(JSON.parse(secrets.decrypt(encryptedState)))
  } catch {
    return undefined
  }
}

/**
 * Returns further claims about the user: some providers do not put groups and e-mail
 * addresses into the ID token.
 */
async function readUserInfo(
  configuration: Configuration,
  { oidc_groups_claim: oidcGroupsClaim }: OidcSettings,
  accessToken: string,
  idToken: { sub: string; [claim: string]: unknown },
): Promise<Record<string, unknown>> {
  const isComplete = ['email', 'email_verified', oidcGroupsClaim].every(claim => claim in idToken)
  const hasEndpoint = configuration.serverMetadata().userinfo_endpoint !== undefined
  if (isComplete || !hasEndpoint) return {}
  return { ...(await fetchUserInfo(configuration, accessToken, idToken.sub)) }
}

function toAccount(
  issuer: string,
  claims: Record<string, unknown>,
  groupsClaim: string,
): ProviderAccount {
  const subject = toText(claims.sub)
  if (subject === '') throw new Error('the ID token has no usable subject')
  const verifiedEmail =
    claims.email_verified === true ? email.safeParse(toText(claims.email)) : undefined
  return {
    issuer,
    subject,
    email: verifiedEmail?.data,
    first_name: toText(claims.given_name) || toText(claims.name),
    last_name: claims.given_name ? toText(claims.family_name) : '',
    groups: [claims[groupsClaim]]
      .flat()
      .map(toText)
      .filter(group => group !== ''),
  }
}

/**
 * Returns the text of a claim, or an empty text if the claim is missing, too long, or cannot be
 * stored in the database.
 */
const toText = (claim: unknown) =>
  typeof claim === 'string' && claim.length <= MAX_CLAIM_LENGTH && isStorable(claim) ? claim : ''
