import { createHash } from 'node:crypto'
import { SDK_VERSION } from '@eyrie/contract/sdk-version'
import { generatePublisherKeys, readSigningKey } from '@eyrie/plugin-signature/publisher-keys'
import { signRegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { describe, expect, it } from 'vitest'
import { assertNotOlder, formatIndex, parseIndex } from './registry-index.ts'
import { parseRequestedVersion, selectEntry } from './select-entry.ts'

const since = '2026-05-04T10:12:00.000Z'
const createKey = (name: string) => readSigningKey(generatePublisherKeys(name).privateKey)
const acme = createKey('Acme Vision')
const beta = createKey('Beta')

const createEntry = (
  version: string,
  { key = acme, sdk = 1 as string | number, published = since } = {},
) =>
  signRegistryEntry(
    {
      ...{
        name: 'crowd',
        version,
        sdk,
        license: 'MIT',
        description: 'Counts',
        published,
        bytes: 10,
      },
      sha256: createHash('sha256').update(version).digest('hex'),
    },
    key,
  )

const trust = {
  publishers: [{ key: acme.key, name: 'Acme', state: 'trusted' as const, since }],
  exceptions: [] as string[],
}
const entries = ['1.0.0', '1.2.0', '1.2.10', '1.2.9', '1.20.0', '2.0.0-beta.1'].map(version =>
  createEntry(version),
)

function select(
  requested: string,
  added: typeof entries = [],
  policy: object = {},
  publisher?: string,
): string {
  const index = parseIndex(formatIndex([...entries, ...added]))
  const selected = selectEntry(
    index,
    parseRequestedVersion(requested),
    { trust, sdk: SDK_VERSION, ...policy },
    publisher,
  )
  return selected.version
}

describe('the version that is installed', () => {
  it.each([
    ['crowd', '1.20.0'],
    ['crowd@1', '1.20.0'],
    ['crowd@1.2', '1.2.10'],
    ['crowd@1.2.9', '1.2.9'],
    ['crowd@2.0.0-beta.1', '2.0.0-beta.1'],
  ])('of %s is %s', (requested, version) => {
    expect(select(requested)).toBe(version)
  })

  it.each([
    ['crowd@2', /has no crowd@2; available: 2\.0\.0-beta\.1, 1\.20\.0/],
    ['gate', /has no plugin gate: eyrie plugin search/],
    ['crowd@', /should be a plugin such as/],
    ['crowd@^1.2', /should be a plugin such as/],
    ['crowd@1.2@3', /should be a plugin such as/],
    ['../crowd', /should be a plugin such as/],
  ])('of %s does not exist', (requested, reason) => {
    expect(() => select(requested)).toThrow(reason)
  })

  it('runs with the SDK of the engine', () => {
    const newer = [createEntry('1.21.0', { sdk: '^1.99.0' }), createEntry('3.0.0', { sdk: 2 })]
    expect(select('crowd', newer)).toBe('1.20.0')
    expect(() => select('crowd@3', newer)).toThrow(
      /crowd 3\.0\.0: it is written for version 2 of the element SDK/,
    )
    expect(select('crowd@3', newer, { sdk: '2.0.0' })).toBe('3.0.0')
  })

  it('comes from a trusted publisher, or is an exception', () => {
    const foreign = [createEntry('9.0.0', { key: beta })]
    expect(select('crowd', foreign)).toBe('1.20.0')
    expect(() => select('crowd@9', foreign)).toThrow(
      `unknown publisher that calls itself "Beta": if its key is genuine, trust it with eyrie plugin trust ${beta.key}`,
    )
    expect(select('crowd@9', foreign, { trust: { ...trust, exceptions: ['crowd'] } })).toBe('9.0.0')

    const distrusted = { key: beta.key, name: 'Beta', state: 'distrusted', since }
    const policy = { trust: { publishers: [distrusted], exceptions: ['crowd'] } }
    expect(() => select('crowd@9', foreign, policy)).toThrow(/Beta has been distrusted since/)
  })

  it('is that of one publisher if several trusted ones have published the name', () => {
    const foreign = [createEntry('1.0.1', { key: beta })]
    const both = {
      trust: {
        publishers: [...trust.publishers, { key: beta.key, name: 'Beta', state: 'trusted', since }],
        exceptions: [],
      },
    }
    expect(() => select('crowd@1', foreign, both)).toThrow(
      /published by Acme and Beta: choose one with --publisher/,
    )
    expect(select('crowd@1', foreign, both, 'Beta')).toBe('1.0.1')
    expect(() => select('crowd@1', foreign, both, 'Acme Vision')).toThrow(
      /Acme Vision has not published/,
    )
  })
})

describe('an index', () => {
  it.each([
    ['version', '1.0.1'],
    ['sdk', '^1'],
    ['license', 'Apache-2.0'],
    ['description', 'Counts everything'],
    ['published', '2027-05-04T10:12:00.000Z'],
    ['bytes', 11],
    ['sha256', 'a'.repeat(64)],
    ['publisher', 'Acme'],
    ['key', beta.key],
  ])('rejects an entry whose %s was changed', (field, value) => {
    const forged = { ...createEntry('1.0.0'), [field]: value }
    const index = parseIndex(JSON.stringify({ format: 1, entries: [createEntry('1.1.0'), forged] }))
    expect(index.entries.map(({ version }) => version)).toEqual(['1.1.0'])
    expect(index.rejected).toMatchObject([
      { name: 'crowd', reason: expect.stringMatching(/changed or forged/) },
    ])
    expect(() =>
      selectEntry(
        index,
        { name: 'crowd', version: forged.version as string },
        { trust, sdk: SDK_VERSION },
      ),
    ).toThrow(
      field === 'version' ? /changed or forged/ : /crowd 1\.0\.0: its signature does not match/,
    )
  })

  it('rejects an entry that could change the terminal', () => {
    const entry = { ...createEntry('1.0.0'), description: '\u001b[2J' }
    const { rejected } = parseIndex(JSON.stringify({ format: 1, entries: [entry, 'nothing'] }))
    expect(rejected.map(({ reason }) => reason)).toEqual([
      '/description: must not contain control characters',
      expect.stringMatching(/expected object/),
    ])
  })

  it('is not older than one seen before', () => {
    const later = createEntry('1.3.0', { published: '2026-06-01T00:00:00.000Z' })
    const seen = { [acme.key]: later.published }
    expect(() => assertNotOlder([...entries, later], seen, 'shop')).not.toThrow()
    expect(() => assertNotOlder(entries, seen, 'shop')).toThrow(
      /shop is older than when it was read before: it had an entry of 2026-06-01.*has nothing after 2026-05-04/,
    )
    expect(() => assertNotOlder([], seen, 'shop')).toThrow(/contains none now/)
  })
})
