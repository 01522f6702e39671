import {
  digestToken,
  type Environment,
  isLoopback,
  type SecretVariables,
  type ServiceName,
} from '@eyrie/kit'
import { getOrCreateSecret } from './data-folder.ts'

/** The tokens of the appliance. */
export interface ApplianceTokens {
  /** Accepted by the API of the engine. */
  engine: readonly string[]
  /** Accepted by the API of the engine, also for changing plugins. */
  plugins: readonly string[]
  /** With this token, the services authenticate to each other. */
  internal: string
  /** With this token, the scheduler fetches due messages from management. */
  scheduler: string
  /** With this token, engines register at management, such as those of other machines. */
  join?: string | undefined
  /**
   * Whether the engine of this appliance registers itself, too. Otherwise, management knows it by
   * the address.
   */
  engineJoins?: boolean
}

/** Returns the tokens. Those that are not configured are generated at the first start. */
export function getOrCreateTokens({
  data,
  engineTokens,
  pluginTokens,
  internalToken,
  schedulerToken,
  joinToken,
}: Environment): ApplianceTokens {
  return {
    engine: engineTokens.length > 0 ? engineTokens : [getOrCreateSecret(data, 'engine-token')],
    plugins: pluginTokens.length > 0 ? pluginTokens : [getOrCreateSecret(data, 'plugin-token')],
    internal: internalToken ?? getOrCreateSecret(data, 'internal-token'),
    scheduler: schedulerToken ?? getOrCreateSecret(data, 'scheduler-token'),
    join: joinToken,
  }
}

/**
 * Returns the secrets that a service needs, and no others. Media verifies the tokens of the engine
 * by their digests, and management uses only one of them.
 */
export function selectSecrets(
  service: ServiceName,
  environment: Environment,
  { engine, plugins, internal, scheduler, join, engineJoins }: ApplianceTokens,
): SecretVariables {
  const { tls, trustedCertificate, databaseUrl, administrator, tracing } = environment
  const certificate: SecretVariables = {
    ...(trustedCertificate && { EYRIE_TLS_CERT_PEM: trustedCertificate }),
    ...(tls && usesTls(service, environment) && { EYRIE_TLS_KEY_PEM: tls.key }),
  }
  const common: SecretVariables = { ...certificate, EYRIE_INTERNAL_TOKEN: internal }
  switch (service) {
    case 'media':
      return { ...common, EYRIE_ENGINE_TOKEN_DIGESTS: engine.map(digestToken).join() }
    case 'engine':
      return {
        ...common,
        EYRIE_ENGINE_TOKENS: engine.join(),
        EYRIE_PLUGIN_TOKENS: plugins.join(),
        ...(join && engineJoins && { EYRIE_JOIN_TOKEN: join }),
        ...(tracing && { OTEL_EXPORTER_OTLP_HEADERS: formatTraceHeaders(tracing.headers) }),
      }
    case 'management':
      return {
        ...common,
        EYRIE_ENGINE_TOKENS: engine[0],
        EYRIE_SCHEDULER_TOKEN: scheduler,
        ...(join && { EYRIE_JOIN_TOKEN: join }),
        ...(databaseUrl && { DATABASE_URL: databaseUrl }),
        ...(administrator.password && { EYRIE_ADMIN_PASSWORD: administrator.password }),
      }
    case 'scheduler':
      return { ...certificate, EYRIE_SCHEDULER_TOKEN: scheduler }
  }
}

/**
 * Returns whether a service serves HTTPS, if a certificate is configured: management always does,
 * and the others do if other machines can reach them. A service that serves only this machine does
 * not need the key of the certificate.
 */
export function usesTls(service: ServiceName, { hosts, tls }: Environment): boolean {
  return tls !== undefined && (service === 'management' || !isLoopback(hosts[service]))
}

const formatTraceHeaders = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join()
