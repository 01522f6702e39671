import { describe, expect, it } from 'vitest'
import type { PackageClaim } from './package-claim.ts'
import {
  findPublisherChange,
  findRefusal,
  type SignaturePolicy,
  toVersionSignature,
} from './signature-policy.ts'

const [acmeKey, newAcmeKey, betaKey, unknownKey] = ['a', 'b', 'c', 'd'].map(digit =>
  digit.repeat(64),
) as [string, string, string, string]
const since = '2026-05-04T10:12:00.000Z'
const publishers: SignaturePolicy['publishers'] = [
  { key: acmeKey, name: 'Acme Vision', state: 'trusted', since },
  { key: newAcmeKey, name: 'Acme Vision', state: 'trusted', since },
  { key: betaKey, name: 'Beta', state: 'distrusted', since },
]
const open: SignaturePolicy = { isRequired: false, publishers: [], exceptions: [] }
const required: SignaturePolicy = { isRequired: true, publishers, exceptions: [] }
const excepted: SignaturePolicy = { ...required, exceptions: ['crowd'] }

const unsigned: PackageClaim = { state: 'unsigned' }
const invalid: PackageClaim = { state: 'invalid', reason: 'it is forged' }
const signedWith = (key: string, publisher = 'Acme Vision'): PackageClaim => ({
  state: 'signed',
  publisher,
  key,
})

describe('a package', () => {
  it.each<[string, PackageClaim, SignaturePolicy, RegExp | undefined]>([
    ['without a signature', unsigned, open, undefined],
    [
      'without a signature',
      unsigned,
      required,
      /it is not signed, .*eyrie plugin sign.*eyrie plugin allow crowd/,
    ],
    ['without a signature', unsigned, excepted, undefined],
    ['of an unknown publisher', signedWith(unknownKey), open, undefined],
    [
      'of an unknown publisher',
      signedWith(unknownKey),
      required,
      /an unknown publisher that calls itself "Acme Vision".*plugin trust d{64} --name <name>.*plugin allow crowd/,
    ],
    ['of an unknown publisher', signedWith(unknownKey), excepted, undefined],
    ['of a trusted publisher', signedWith(acmeKey), required, undefined],
    [
      'of a distrusted publisher',
      signedWith(betaKey),
      required,
      /Beta has been distrusted since 2026.*plugin trust c{64}$/,
    ],
    ['of a distrusted publisher', signedWith(betaKey), excepted, /Beta has been distrusted/],
    [
      'of a distrusted publisher',
      signedWith(betaKey),
      { ...excepted, isRequired: false },
      /Beta has been distrusted/,
    ],
    ['with a wrong signature', invalid, open, /it is forged/],
    ['with a wrong signature', invalid, excepted, /it is forged/],
  ])('%s is accepted or refused as its owner says', (_, claim, policy, refusal) => {
    const reason = findRefusal(claim, 'crowd', policy)
    if (refusal) expect(reason).toMatch(refusal)
    else expect(reason).toBeUndefined()
  })

  it('of an unknown publisher never puts its name into a command', () => {
    const reason = findRefusal(signedWith(unknownKey, '$(reboot)'), 'crowd', required)
    expect(reason).toMatch(/calls itself "\$\(reboot\)": if/)
    expect(reason?.match(/reboot/g)).toHaveLength(1)
  })

  it('is described with the name that the owner has given its publisher', () => {
    const signed = { state: 'signed', publisher: 'Acme Vision' }
    expect(toVersionSignature(unsigned, 'crowd', open)).toEqual({ state: 'unsigned' })
    expect(toVersionSignature(signedWith(acmeKey, 'ACME'), 'crowd', required)).toEqual({
      ...signed,
      key: acmeKey,
      trust: 'trusted',
    })
    expect(toVersionSignature(signedWith(unknownKey), 'crowd', open)).toEqual({
      ...signed,
      key: unknownKey,
      trust: 'unknown',
    })
    expect(toVersionSignature(signedWith(betaKey), 'crowd', required)).toMatchObject({
      publisher: 'Beta',
      trust: 'distrusted',
      refused: expect.stringContaining('distrusted'),
    })
    expect(toVersionSignature(invalid, 'crowd', open)).toMatchObject({
      state: 'unsigned',
      refused: expect.stringContaining('forged'),
    })
  })
})

describe('the name of a plugin', () => {
  it.each<[string, PackageClaim, PackageClaim[]]>([
    ['by anyone if it is new', signedWith(unknownKey), []],
    ['by anyone while no version is signed', signedWith(acmeKey), [unsigned, invalid]],
    ['without a signature while no version is signed', unsigned, [unsigned]],
    ['by its publisher', signedWith(acmeKey), [unsigned, signedWith(acmeKey)]],
    [
      'by its publisher with another key of the same name',
      signedWith(newAcmeKey),
      [signedWith(acmeKey)],
    ],
    [
      'by one of its publishers',
      signedWith(unknownKey),
      [signedWith(acmeKey), signedWith(unknownKey)],
    ],
  ])('is continued %s', (_, claim, installed) => {
    expect(findPublisherChange(claim, installed, required)).toBeUndefined()
  })

  it('is not taken over by another publisher that uses the same name in its package', () => {
    expect(findPublisherChange(signedWith(unknownKey), [signedWith(acmeKey)], required)).toEqual({
      from: 'Acme Vision',
      to: `the unknown publisher "Acme Vision" (key ${unknownKey})`,
    })
    expect(findPublisherChange(signedWith(betaKey), [signedWith(acmeKey)], required)).toMatchObject(
      {
        to: 'Beta',
      },
    )
    expect(findPublisherChange(signedWith(acmeKey), [signedWith(newAcmeKey)], open)).toBeDefined()
  })

  it('is not continued without a signature after a version was signed', () => {
    const installed = [unsigned, signedWith(acmeKey)]
    expect(findPublisherChange(unsigned, installed, excepted)).toEqual({
      from: 'Acme Vision',
      to: 'no one',
    })
  })
})
