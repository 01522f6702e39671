import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { createPluginTrust } from './plugin-trust.ts'

const [acme, beta] = ['a'.repeat(64), 'b'.repeat(64)] as [string, string]
const trusted = { name: 'Acme', state: 'trusted' } as const
const distrusted = { name: 'Acme', state: 'distrusted' } as const

/** `unsigned`: names of active plugins without a signature. */
function setUp({ requiresSignatures = false, unsigned = [] as string[] } = {}) {
  const file = join(createTemporaryFolder(), 'trust.json')
  let day = 0
  let changes = 0
  const open = () =>
    createPluginTrust({
      file,
      requiresSignatures,
      listRefused: ({ isRequired, exceptions }) =>
        isRequired && !exceptions.includes('own')
          ? unsigned.map(plugin => ({ plugin, version: '1.0.0' }))
          : [],
      onChange: () => {
        changes += 1
      },
      now: () => new Date(Date.UTC(2026, 4, ++day)),
      log: createLog('test', 'silent'),
    })
  return { file, open, countChanges: () => changes }
}

describe('trusted publishers', () => {
  it('require signatures from the first one on, also after it was distrusted, until it is deleted', async () => {
    const { open } = setUp()
    const trust = open()
    expect(trust.get().value).toEqual({ signatures: 'optional', publishers: [], exceptions: [] })
    expect((await trust.setPublisher(acme, trusted)).value.signatures).toBe('required')
    expect((await trust.setPublisher(acme, distrusted)).value).toMatchObject({
      signatures: 'required',
      publishers: [{ key: acme, ...distrusted }],
    })
    expect((await trust.removePublisher(acme)).value).toMatchObject({
      signatures: 'optional',
      publishers: [],
    })
    expect(setUp({ requiresSignatures: true }).open().get().value.signatures).toBe('required')
  })

  it('are refused while plugins would stop, unless these are allowed, or the request says that they may', async () => {
    const trust = setUp({ unsigned: ['own'] }).open()
    await expect(trust.setPublisher(acme, trusted)).rejects.toMatchObject({
      code: 'reference',
      message: expect.stringMatching(
        /would stop: own 1\.0\.0\. Allow .*eyrie plugin allow own.*\?force=true/,
      ),
      value: { plugins: ['own'] },
    })
    expect(trust.get().value.signatures).toBe('optional')
    await trust.addException('own')
    await trust.setPublisher(acme, trusted)
    await trust.removeException('own')
    // Signatures are required already.
    await trust.setPublisher(beta, trusted)

    const other = setUp({ unsigned: ['own'] }).open()
    expect((await other.setPublisher(acme, trusted, { force: true })).value.signatures).toBe(
      'required',
    )
  })

  it('survive restarts, in a file that only the engine reads', async () => {
    const { file, open } = setUp()
    const before = open()
    await before.setPublisher(acme, trusted)
    await before.addException('crowd')
    expect(open().get()).toEqual(before.get())
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('record when their state has changed, and report only changes', async () => {
    const { open, countChanges } = setUp()
    const trust = open()
    const sinceOf = async (change: Promise<ReturnType<typeof trust.get>>) =>
      (await change).value.publishers[0]?.since
    expect(await sinceOf(trust.setPublisher(acme, trusted))).toBe('2026-05-01T00:00:00.000Z')
    expect(await sinceOf(trust.setPublisher(acme, trusted))).toBe('2026-05-01T00:00:00.000Z')
    expect(await sinceOf(trust.setPublisher(acme, { ...trusted, name: 'ACME' }))).toBe(
      '2026-05-01T00:00:00.000Z',
    )
    expect(countChanges()).toBe(2)
    expect(await sinceOf(trust.setPublisher(acme, distrusted))).toBe('2026-05-02T00:00:00.000Z')
    await trust.addException('crowd')
    await trust.addException('crowd')
    expect(countChanges()).toBe(4)
  })

  it('are unchanged by requests for something that does not exist, or that was changed in the meantime', async () => {
    const { open, countChanges } = setUp()
    const trust = open()
    await expect(trust.removePublisher(beta)).rejects.toMatchObject({ code: 'id' })
    await expect(trust.removeException('crowd')).rejects.toMatchObject({ code: 'id' })
    const { etag } = trust.get()
    await trust.setPublisher(acme, trusted, { ifMatch: etag })
    await expect(trust.setPublisher(beta, trusted, { ifMatch: etag })).rejects.toMatchObject({
      code: 'precondition',
    })
    expect(countChanges()).toBe(1)
  })

  it('that cannot be read leave nothing trusted, and raise an alarm until they are replaced', async () => {
    const { file, open } = setUp()
    await open().setPublisher(acme, trusted)
    writeFileSync(file, readFileSync(file).subarray(0, -20))
    const trust = open()
    expect(trust.policy()).toMatchObject({ isRequired: true, publishers: [] })
    expect(trust.alarms()).toEqual([
      expect.stringMatching(/trust\.json is damaged.*eyrie plugin trust/),
    ])
    await trust.setPublisher(acme, trusted)
    expect(trust.alarms()).toEqual([])
    expect(open().alarms()).toEqual([])
  })
})
