import { EyrieError } from '@eyrie/contract'
import type { OidcSettings } from '@eyrie/contract/management/index'
import { type Egress, fetchFrom } from '@eyrie/kit'
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ServerMetadata,
} from 'openid-client'

const TIMEOUT_S = 10
/** Maximum size of a response. Metadata, keys and tokens are far smaller. */
const MAX_RESPONSE_BYTES = 1 << 20
/** The metadata of a provider is read again after this time. */
const METADATA_TTL_MS = 10 * 60_000
/**
 * After a failure, no request is sent for this time, so that many sign-ins do not overload a
 * provider that has problems.
 */
const RETRY_DELAY_MS = 5_000

/** The settings that the appliance needs to communicate with a provider. */
type ProviderSettings = Pick<
  OidcSettings,
  'oidc_name' | 'oidc_issuer' | 'oidc_client_id' | 'oidc_client_secret'
>

/**
 * Discovers how to communicate with an identity provider, by reading its metadata (OpenID
 * Connect Discovery 1.0).
 */
export interface ProviderClient {
  /** Throws `EyrieError` (`unavailable`) if the provider does not return valid metadata. */
  connect(settings: ProviderSettings): Promise<Configuration>
}

interface Discovery {
  /** The settings with which the metadata was requested, as text. */
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
    const hasFailed = failedAtMs !== undefined
    const ageMs = now().getTime() - (hasFailed ? failedAtMs : startedAtMs)
    const maxAgeMs = hasFailed ? RETRY_DELAY_MS : METADATA_TTL_MS
    // The age is negative after the clock was set back.
    return ageMs >= 0 && ageMs < maxAgeMs
  }

  function startDiscovery(settings: ProviderSettings, settingsKey: string): Discovery {
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
      const { oidc_issuer, oidc_client_id, oidc_client_secret } = settings
      const settingsKey = JSON.stringify([oidc_issuer, oidc_client_id, oidc_client_secret])
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

/** Reads the metadata of a provider. Returns the configuration of openid-client for it. */
async function discoverProvider(
  { oidc_issuer, oidc_client_id, oidc_client_secret }: ProviderSettings,
  fetchFromProvider: CustomFetch,
): Promise<Configuration> {
  const issuer = new URL(oidc_issuer)
  // The settings allow HTTP only for a provider on this machine.
  const extensions = issuer.protocol === 'http:' ? [allowInsecureRequests] : []
  const discovered = await discovery(issuer, oidc_client_id, undefined, None(), {
    [customFetch]: fetchFromProvider,
    timeout: TIMEOUT_S,
    execute: extensions,
  })

  // The configuration is created again, because only the metadata says how the client has to
  // authenticate.
  const metadata = discovered.serverMetadata()
  const authentication = chooseAuthentication(metadata, oidc_client_secret)
  const configuration = new Configuration(metadata, oidc_client_id, undefined, authentication)
  configuration[customFetch] = fetchFromProvider
  configuration.timeout = TIMEOUT_S
  // The signature of an ID token is verified even though it arrives over TLS.
  for (const extend of [...extensions, enableNonRepudiationChecks]) extend(configuration)
  return configuration
}

/** Returns how the client proves its identity when it requests tokens. */
function chooseAuthentication(
  { token_endpoint_auth_methods_supported: methods }: ServerMetadata,
  clientSecret: string,
): ClientAuth {
  if (clientSecret === '') return None()
  // A provider that lists no methods supports `client_secret_basic` (OpenID Connect Discovery 1.0,
  // section 3).
  const supportsBasic = methods?.includes('client_secret_basic') ?? true
  return supportsBasic ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret)
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
