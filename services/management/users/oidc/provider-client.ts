import { EyrieError } from '@eyrie/contract'
import type { OidcSettings } from '@eyrie/contract/management/index'
import { type Egress, fetchFrom } from '@eyrie/kit'
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
} from 'openid-client'

const TIMEOUT_S = 10
/** Maximum size of a response. Metadata, keys and tokens are far smaller. */
const MAX_RESPONSE_BYTES = 1 << 20
/** How long the metadata of a provider is used before it is read again. */
const MAX_AGE_MS = 10 * 60_000
/**
 * After a failure, no request is sent for this time, so that many sign-ins do not overload a
 * provider that has problems.
 */
const FAILURE_AGE_MS = 5_000

/** The settings that determine how the appliance talks to a provider. */
type ProviderIdentity = Pick<
  OidcSettings,
  'oidc_name' | 'oidc_issuer' | 'oidc_client_id' | 'oidc_client_secret'
>

/**
 * Discovers how to communicate with an identity provider, by reading its metadata (OpenID
 * Connect Discovery 1.0).
 */
export interface ProviderClient {
  /** Throws `EyrieError` (`unavailable`) if the provider does not return valid metadata. */
  connect(settings: ProviderIdentity): Promise<Configuration>
}

interface Discovery {
  /** Identifies the settings with which the metadata was requested. */
  settingsKey: string
  configuration: Promise<Configuration>
  startedAtMs: number
  /** Undefined unless the discovery has failed. */
  failedAtMs: number | undefined
}

/**
 * Creates a client whose requests go through `egress`, which follows no redirects and denies
 * addresses inside of the network.
 */
export function createProviderClient(egress: Egress, now: () => Date): ProviderClient {
  const fetchFromProvider = createProviderFetch(egress)
  /** The latest discovery, which concurrent sign-ins share. */
  let latest: Discovery | undefined

  function isUsable({ startedAtMs, failedAtMs }: Discovery): boolean {
    const ageMs = now().getTime() - (failedAtMs ?? startedAtMs)
    return ageMs >= 0 && ageMs < (failedAtMs === undefined ? MAX_AGE_MS : FAILURE_AGE_MS)
  }

  function startDiscovery(settings: ProviderIdentity, settingsKey: string): Discovery {
    const configuration = discoverProvider(settings, fetchFromProvider)
    const started: Discovery = {
      settingsKey,
      configuration,
      startedAtMs: now().getTime(),
      failedAtMs: undefined,
    }
    // The failure itself is reported by `connect`.
    configuration.catch(() => {
      started.failedAtMs = now().getTime()
    })
    return started
  }

  return {
    async connect(settings) {
      const {
        oidc_issuer: issuer,
        oidc_client_id: clientId,
        oidc_client_secret: clientSecret,
      } = settings
      const settingsKey = JSON.stringify([issuer, clientId, clientSecret])
      if (latest?.settingsKey !== settingsKey || !isUsable(latest)) {
        latest = startDiscovery(settings, settingsKey)
      }
      return latest.configuration.catch(cause => {
        const reason = `${settings.oidc_name} does not answer: try again later, or sign in with a password`
        throw new EyrieError('unavailable', reason, { cause })
      })
    },
  }
}

async function discoverProvider(
  {
    oidc_issuer: issuerUrl,
    oidc_client_id: clientId,
    oidc_client_secret: clientSecret,
  }: ProviderIdentity,
  fetchFromProvider: CustomFetch,
): Promise<Configuration> {
  const issuer = new URL(issuerUrl)
  // The settings allow HTTP only for a provider on this machine.
  const extensions = issuer.protocol === 'http:' ? [allowInsecureRequests] : []
  const discovered = await discovery(issuer, clientId, undefined, None(), {
    [customFetch]: fetchFromProvider,
    timeout: TIMEOUT_S,
    execute: extensions,
  })

  // The metadata determines how the client authenticates, so the configuration is created again.
  const metadata = discovered.serverMetadata()
  // The default of the standard (OpenID Connect Discovery 1.0, section 3).
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const authenticate = methods.includes('client_secret_basic')
    ? ClientSecretBasic
    : ClientSecretPost
  const authentication = clientSecret === '' ? None() : authenticate(clientSecret)
  const configuration = new Configuration(metadata, clientId, undefined, authentication)
  configuration[customFetch] = fetchFromProvider
  configuration.timeout = TIMEOUT_S
  // The signature of an ID token is verified even though it arrives over TLS.
  for (const extend of [...extensions, enableNonRepudiationChecks]) extend(configuration)
  return configuration
}

/** Creates a `fetch` for openid-client. */
function createProviderFetch(egress: Egress): CustomFetch {
  return (url, { body, headers, method, signal }) => {
    const text =
      typeof body === 'string' || body instanceof URLSearchParams ? String(body) : undefined
    return fetchFrom(egress, url, {
      method,
      headers,
      signal,
      body: text,
      maxBytes: MAX_RESPONSE_BYTES,
    })
  }
}
