import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommandLine } from '../command-line.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-license-'))
  await writeFile(join(folder, 'list.json'), JSON.stringify(entries))
})
afterEach(() => rm(folder, { recursive: true }))

const entries = [
  { customer: 'acme', subscription: 'gold', pool: 'box-1' },
  { customer: 'acme', subscription: 'gold', pool: 'box-2', until: '2001-01-01T00:00:00Z' },
]

/** Runs `eyrie license`. Words that begin with @ are files in the folder. */
async function run(line: string) {
  const text = { out: '', err: '' }
  const into = (stream: 'out' | 'err') => ({ write: (more: string) => (text[stream] += more) })
  const args = ['license', ...line.split(' ').map(word => word.replace(/^@/, `${folder}/`))]
  const code = await runCommandLine(args, { data: folder, out: into('out'), err: into('err') })
  return { code, ...text }
}

describe('eyrie license', () => {
  it('generates keys, signs a list and shows it', async () => {
    expect((await run('keygen @issuer')).code).toBe(0)
    expect((await stat(join(folder, 'issuer.key'))).mode & 0o777).toBe(0o600)
    expect((await run('sign @list.json --key @issuer.key --out @pool.json')).code).toBe(0)
    const shown = await run('show @pool.json --key @issuer.pub')
    expect(shown.out).toMatch(/^acme +gold +box-1 +for ever$/m)
    expect(shown.out).toMatch(/^acme +gold +box-2 +2001-01-01T00:00:00Z \(ended\)$/m)
    expect(JSON.parse((await run('show @pool.json --key @issuer.pub --json')).out)).toEqual(entries)
  })

  it('never overwrites a key', async () => {
    await run('keygen @issuer')
    const key = await readFile(join(folder, 'issuer.key'), 'utf8')
    expect(await run('keygen @issuer')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/another name/),
    })
    expect(await readFile(join(folder, 'issuer.key'), 'utf8')).toBe(key)
  })

  it('rejects a pool that was signed with another key', async () => {
    await run('keygen @issuer')
    await run('keygen @other')
    await run('sign @list.json --key @other.key --out @pool.json')
    expect(await run('show @pool.json --key @issuer.pub')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /pool\.json is not valid: its signature does not match the public key/,
      ),
    })
  })

  it('says that the key is the problem if it is no key', async () => {
    await run('keygen @issuer')
    expect(await run('sign @list.json --key @issuer.pub --out @pool.json')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/: the key is not a private key in PEM format\n$/),
    })
    await run('sign @list.json --key @issuer.key --out @pool.json')
    expect(await run('show @pool.json --key @list.json')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/: the key is not a public key in PEM format\n$/),
    })
  })

  it('names the invalid field of a list', async () => {
    await run('keygen @issuer')
    await writeFile(join(folder, 'list.json'), '[{"customer":"acme"}]')
    expect(await run('sign @list.json --key @issuer.key --out @pool.json')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/list\.json cannot be signed: \/0\/subscription/),
    })
  })

  it.each([
    ['keygen', /the name is missing/],
    ['sign @list.json --out @pool.json', /--key is missing/],
    ['sign @list.json --key @issuer.key', /--out is missing/],
    ['show @pool.json', /--key is missing/],
  ])('exits with 2 for "%s"', async (line, reason) => {
    expect(await run(line)).toMatchObject({ code: 2, err: expect.stringMatching(reason) })
  })
})
