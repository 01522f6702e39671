import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createCertificate } from '../../test/fixtures/network/certificate.ts'
import { readEnvironment } from './environment.ts'

const folder = mkdtempSync(join(tmpdir(), 'eyrie-environment-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('readEnvironment', () => {
  it('has a default for every variable', () => {
    const environment = readEnvironment({})
    expect(environment).toMatchObject({
      hosts: { engine: '127.0.0.1', media: '127.0.0.1', management: '127.0.0.1' },
      ports: { engine: 8100, media: 8200, management: 8080 },
      urls: {
        engine: 'http://127.0.0.1:8100',
        media: 'http://127.0.0.1:8200',
        management: 'http://127.0.0.1:8080',
      },
      engineTokens: [],
      internalToken: undefined,
      license: 'none',
      databaseUrl: undefined,
      administrator: { email: undefined, password: undefined },
    })
    expect(environment.mediaRoots).toEqual([join(environment.data, 'media')])
    expect(environment.outputRoots).toEqual([join(environment.data, 'output')])
  })

  it('exposes only the service whose address is set', () => {
    const { hosts, urls } = readEnvironment({ EYRIE_MANAGEMENT_HOST: '0.0.0.0' })
    expect(hosts).toEqual({
      engine: '127.0.0.1',
      media: '127.0.0.1',
      management: '0.0.0.0',
      scheduler: '127.0.0.1',
    })
    expect(urls.management).toBe('http://127.0.0.1:8080')
    const all = readEnvironment({ EYRIE_HOST: '::', EYRIE_ENGINE_HOST: '127.0.0.1' })
    expect(all.hosts).toEqual({
      engine: '127.0.0.1',
      media: '::',
      management: '::',
      scheduler: '::',
    })
  })

  it('reaches a service by the address on which it listens', () => {
    const { urls } = readEnvironment({ EYRIE_MEDIA_HOST: '192.0.2.1', EYRIE_ENGINE_HOST: '::1' })
    expect(urls).toEqual({
      engine: 'http://[::1]:8100',
      media: 'http://192.0.2.1:8200',
      management: 'http://127.0.0.1:8080',
      scheduler: 'http://127.0.0.1:8300',
    })
  })

  it('derives a separate ring folder for every data folder and internal token', () => {
    const ring = (data: string, token = '') =>
      readEnvironment({ EYRIE_DATA: data, EYRIE_INTERNAL_TOKEN: token }).ring
    expect(ring('/var/lib/one')).toMatch(/^\/dev\/shm\/eyrie-[0-9a-f]{32}$/)
    expect(ring('/var/lib/one', 'secret')).not.toBe(ring('/var/lib/one', 'other'))
    expect(ring('/var/lib/one')).not.toBe(ring('/var/lib/two'))
    expect(ring('/var/lib/one/')).toBe(ring('/var/lib/one'))
  })

  it('treats an empty variable as unset', () => {
    expect(readEnvironment({ EYRIE_ENGINE_PORT: '', EYRIE_DATA: '' }).ports.engine).toBe(8100)
  })

  it('names the invalid variable', () => {
    expect(() => readEnvironment({ EYRIE_ENGINE_PORT: 'eighty' })).toThrow(
      /^EYRIE_ENGINE_PORT is not valid/,
    )
    expect(() => readEnvironment({ EYRIE_MEDIA_PORT: '70000' })).toThrow(
      /^EYRIE_MEDIA_PORT is not valid/,
    )
    expect(() => readEnvironment({ EYRIE_ENGINE_URL: 'nowhere' })).toThrow(
      /^EYRIE_ENGINE_URL is not valid/,
    )
  })

  it('accepts the same e-mail addresses for the administrator as for users', () => {
    const administrator = (address: string) =>
      readEnvironment({ EYRIE_ADMIN_EMAIL: address }).administrator
    expect(administrator('admin@localhost').email).toBe('admin@localhost')
    expect(() => administrator('admin')).toThrow(
      'EYRIE_ADMIN_EMAIL is not valid: must be an e-mail address',
    )
  })

  it('reads secrets from files and names a missing file', () => {
    const file = join(folder, 'tokens')
    writeFileSync(file, 'first, second\n')
    expect(readEnvironment({ EYRIE_ENGINE_TOKENS_FILE: file }).engineTokens).toEqual([
      'first',
      'second',
    ])
    expect(() => readEnvironment({ EYRIE_INTERNAL_TOKEN_FILE: '/nowhere' })).toThrow(
      '/nowhere does not exist',
    )
  })

  it('disables tracing unless an OpenTelemetry endpoint is set', () => {
    expect(readEnvironment({}).tracing).toBeUndefined()
    const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }
    expect(readEnvironment({ ...base, OTEL_TRACES_SAMPLER_ARG: '0.1' }).tracing).toMatchObject({
      url: 'http://collector:4318/v1/traces',
      sampleRatio: 0.1,
    })
    const withHeaders = (text: string) =>
      readEnvironment({ ...base, OTEL_EXPORTER_OTLP_HEADERS: text })
    expect(withHeaders('authorization=Bearer%20x, tenant = hall').tracing?.headers).toEqual({
      authorization: 'Bearer x',
      tenant: 'hall',
    })
    expect(() => withHeaders('share=5%')).toThrow(/^OTEL_EXPORTER_OTLP_HEADERS is not valid/)
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/take' }
    expect(readEnvironment({ ...base, ...own }).tracing?.url).toBe('https://traces/take')
    expect(() => readEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' })).toThrow(
      /^OTEL_EXPORTER_OTLP_ENDPOINT is not valid/,
    )
    expect(() => readEnvironment({ OTEL_TRACES_SAMPLER_ARG: '5' })).toThrow(
      /^OTEL_TRACES_SAMPLER_ARG is not valid/,
    )
  })

  it('enables HTTPS with a certificate and its matching key', () => {
    const files = createCertificate(folder)
    const other = createCertificate(folder, 'other')
    const read = (cert: string, key: string) =>
      readEnvironment({ EYRIE_TLS_CERT: cert, EYRIE_TLS_KEY: key })
    const { tls, urls } = read(files.cert, files.key)
    expect(tls?.cert).toContain('BEGIN CERTIFICATE')
    expect(urls.engine).toBe('https://127.0.0.1:8100')
    expect(() => read(files.cert, '')).toThrow('set both or none')
    expect(() => read(files.cert, other.key)).toThrow(
      `${other.key} is not the key of the certificate`,
    )
    expect(() => read('/nowhere.crt', files.key)).toThrow(
      'EYRIE_TLS_CERT: the file /nowhere.crt does not exist',
    )
  })

  it('trusts the listed proxies only', () => {
    const read = (EyrieTrustedProxies: string) =>
      readEnvironment({ EYRIE_TRUSTED_PROXIES: EyrieTrustedProxies }).trustedProxies
    expect(read('').includes('127.0.0.1')).toBe(false)
    const proxies = read('10.0.0.0/24, ::1')
    const addresses = [
      '10.0.0.7',
      '::ffff:10.0.0.7',
      '::1',
      '10.0.1.7',
      '::2',
      '2002:a00:7::1',
      'proxy',
    ]
    expect(addresses.filter(proxies.includes)).toEqual(['10.0.0.7', '::ffff:10.0.0.7', '::1'])
    expect(() => read('proxy.example')).toThrow(
      'EYRIE_TRUSTED_PROXIES is not valid: proxy.example: expected addresses and networks such as',
    )
  })
})

describe('EYRIE_INSPECT', () => {
  it('names a plugin and a port', () => {
    expect(readEnvironment({}).inspect).toBeUndefined()
    expect(readEnvironment({ EYRIE_INSPECT: 'crowd:9229' }).inspect).toEqual({
      plugin: 'crowd',
      port: 9229,
    })
    expect(() => readEnvironment({ EYRIE_INSPECT: '9229' })).toThrow(
      /EYRIE_INSPECT.*such as crowd:9229/,
    )
  })
})
