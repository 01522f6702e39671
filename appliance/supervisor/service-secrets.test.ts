import { readFileSync } from 'node:fs'
import { digestToken, readEnvironment } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { createCertificate } from '../../test/fixtures/network/certificate.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { getOrCreateTokens, selectSecrets } from './service-secrets.ts'

const variables = {
  EYRIE_ENGINE_TOKENS: 'first,second',
  EYRIE_PLUGIN_TOKENS: 'plugins',
  EYRIE_INTERNAL_TOKEN: 'internal',
  EYRIE_SCHEDULER_TOKEN: 'messages',
  EYRIE_ADMIN_PASSWORD: 'password',
  DATABASE_URL: 'postgres://eyrie@db/eyrie',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x, tenant=hall',
}

describe('selectSecrets', () => {
  it('passes each service only the secrets that it needs', () => {
    const environment = readEnvironment(variables)
    const tokens = getOrCreateTokens(environment)
    expect(selectSecrets('media', environment, tokens)).toEqual({
      EYRIE_INTERNAL_TOKEN: 'internal',
      EYRIE_ENGINE_TOKEN_DIGESTS: `${digestToken('first')},${digestToken('second')}`,
    })
    expect(selectSecrets('engine', environment, tokens)).toEqual({
      EYRIE_INTERNAL_TOKEN: 'internal',
      EYRIE_ENGINE_TOKENS: 'first,second',
      EYRIE_PLUGIN_TOKENS: 'plugins',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x,tenant=hall',
    })
    expect(selectSecrets('management', environment, tokens)).toEqual({
      EYRIE_INTERNAL_TOKEN: 'internal',
      EYRIE_ENGINE_TOKENS: 'first',
      EYRIE_SCHEDULER_TOKEN: 'messages',
      EYRIE_ADMIN_PASSWORD: 'password',
      DATABASE_URL: 'postgres://eyrie@db/eyrie',
    })
    expect(selectSecrets('scheduler', environment, tokens)).toEqual({
      EYRIE_SCHEDULER_TOKEN: 'messages',
    })
  })

  it.each([
    { engineJoins: false, names: ['management'] },
    { engineJoins: true, names: ['engine', 'management'] },
  ])(
    'passes the configured join token to $names if engineJoins is $engineJoins',
    ({ engineJoins, names }) => {
      const environment = readEnvironment({ ...variables, EYRIE_JOIN_TOKEN: 'join' })
      const tokens = { ...getOrCreateTokens(environment), engineJoins }
      const receivers = (['media', 'engine', 'management', 'scheduler'] as const).filter(
        service => selectSecrets(service, environment, tokens).EYRIE_JOIN_TOKEN === 'join',
      )
      expect(receivers).toEqual(names)
    },
  )

  it('generates tokens that differ from each other, and keeps them', () => {
    const environment = readEnvironment({ EYRIE_DATA: createTemporaryFolder() })
    const tokens = getOrCreateTokens(environment)
    expect(
      new Set([...tokens.engine, ...tokens.plugins, tokens.internal, tokens.scheduler]).size,
    ).toBe(4)
    expect(getOrCreateTokens(environment)).toEqual(tokens)
  })

  it('passes the key of the certificate to management, and to services that other machines can reach', () => {
    const { cert, key } = createCertificate(createTemporaryFolder())
    const hasKey = (EyrieMediaHost: string) => {
      const files = { EYRIE_TLS_CERT: cert, EYRIE_TLS_KEY: key }
      const environment = readEnvironment({
        ...variables,
        ...files,
        EYRIE_MEDIA_HOST: EyrieMediaHost,
      })
      return (['media', 'engine', 'management', 'scheduler'] as const).map(service => {
        const secrets = selectSecrets(service, environment, getOrCreateTokens(environment))
        expect(secrets.EYRIE_TLS_CERT_PEM).toBe(readFileSync(cert, 'utf8'))
        expect(Boolean(readEnvironment(secrets).tls)).toBe(secrets.EYRIE_TLS_KEY_PEM !== undefined)
        return secrets.EYRIE_TLS_KEY_PEM !== undefined
      })
    }
    expect(hasKey('127.0.0.1')).toEqual([false, false, true, false])
    expect(hasKey('0.0.0.0')).toEqual([true, false, true, false])
  })
})
