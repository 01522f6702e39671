import { existsSync, linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ListeningServer, listen, type Service } from '@eyrie/kit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { createTarball } from '../../../test/fixtures/engine/plugin-package.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

let data: string
let engine: Service
let server: ListeningServer
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'eyrie-cli-'))
  ;({ engine } = await startEngine(data))
  server = await listen(engine, '127.0.0.1', 0)
})
afterAll(async () => {
  await server.close()
  await engine.stop()
  await rm(data, { recursive: true })
})

let folder: string
beforeEach(() => {
  folder = createTemporaryFolder()
  writePlugin(folder, { name: 'crowd' })
})

/**
 * Runs `eyrie plugin`. Words that begin with @ are files in the folder; ␣ is a space within a word.
 */
const run = (line: string) =>
  runEyrieCommand(
    [
      'plugin',
      ...line.split(' ').map(word => word.replace(/^@/, `${folder}/`).replaceAll('␣', ' ')),
    ],
    { data, environment: { EYRIE_ENGINE_URL: `http://127.0.0.1:${server.port}` } },
  )
const keygen = (name = 'acme', publisher = 'Acme␣Vision') =>
  run(`keygen @${name} --publisher ${publisher}`)
const keyOf = (name: string) =>
  JSON.parse(readFileSync(join(folder, `${name}.pub`), 'utf8')).key as string
const failure = (reason: RegExp) => ({ code: 1, out: '', err: expect.stringMatching(reason) })

describe('eyrie plugin keygen', () => {
  it('writes a private key that only its owner reads, and prints nothing of it', async () => {
    const { code, out, err } = await keygen()
    expect([code, err]).toEqual([0, ''])
    expect(out).toBe(`made ${folder}/acme.key and ${folder}/acme.pub\nkey ${keyOf('acme')}\n`)
    expect(statSync(join(folder, 'acme.key')).mode & 0o777).toBe(0o600)
    const { private_key: privateKey } = JSON.parse(readFileSync(join(folder, 'acme.key'), 'utf8'))
    for (const text of [out, readFileSync(join(folder, 'acme.pub'), 'utf8')]) {
      expect(text).not.toContain(privateKey.split('\n')[1])
    }
  })

  it.each(['acme.key', 'acme.pub'])('never overwrites %s', async existing => {
    writeFileSync(join(folder, existing), 'precious')
    expect(await keygen()).toMatchObject(failure(/acme\.\w+ exists already: use another name/))
    expect(readFileSync(join(folder, existing), 'utf8')).toBe('precious')
    expect(existsSync(join(folder, existing === 'acme.key' ? 'acme.pub' : 'acme.key'))).toBe(false)
  })

  it('says that the folder of the keys does not exist', async () => {
    expect(await keygen('none/acme')).toMatchObject(
      failure(/none\/acme\.key cannot be written: its folder does not exist/),
    )
  })
})

describe('eyrie plugin sign and verify', () => {
  it('sign an archive in its place, or a folder', async () => {
    await keygen()
    await run('pack @crowd --out @crowd.tgz')
    expect(await run('verify @crowd.tgz')).toMatchObject(failure(/crowd\.tgz is not signed/))
    expect((await run('sign @crowd.tgz --key @acme.key')).out).toBe(
      `signed crowd 1.0.0 as Acme Vision: ${folder}/crowd.tgz\n`,
    )
    expect((await run('sign @crowd --key @acme.key')).out).toBe(
      `signed crowd 1.0.0 as Acme Vision: ${folder}/crowd\n`,
    )
    const verified = `verified crowd 1.0.0, signed by Acme Vision\nkey ${keyOf('acme')}\n`
    for (const path of ['@crowd', '@crowd.tgz']) {
      expect((await run(`verify ${path} --key @acme.pub`)).out).toBe(verified)
      expect((await run(`verify ${path}`)).out).toBe(
        `${verified}Anyone can use this name: compare the key, or name the publisher with --key.\n`,
      )
    }
    expect(JSON.parse((await run('verify @crowd --json')).out)).toEqual({
      name: 'crowd',
      version: '1.0.0',
      publisher: 'Acme Vision',
      key: keyOf('acme'),
    })
    // A packed folder is the same package as the signed archive.
    await run('pack @crowd --out @again.tgz')
    expect((await run('verify @again.tgz --key @acme.pub')).code).toBe(0)
  })

  it('replace an archive as a whole, so that a killed command leaves the old one', async () => {
    await keygen()
    await run('pack @crowd --out @crowd.tgz')
    const path = join(folder, 'crowd.tgz')
    const unsigned = readFileSync(path)
    linkSync(path, join(folder, 'old.tgz'))
    const names = readdirSync(folder)
    expect((await run('sign @crowd.tgz --key @acme.key')).code).toBe(0)
    // Both names would have the new content if it had been written into the old file.
    expect(readFileSync(join(folder, 'old.tgz'))).toEqual(unsigned)
    expect((await run('verify @crowd.tgz')).code).toBe(0)
    expect(readdirSync(folder)).toEqual(names)
  })

  it('sign an archive of another tool, whose files are at the top level', async () => {
    await keygen()
    const names = ['plugin.json', 'element.ts']
    const entries = names.map(name => ({
      name: `./${name}`,
      content: readFileSync(join(folder, 'crowd', name)),
    }))
    writeFileSync(
      join(folder, 'tar.tgz'),
      await createTarball([{ name: './', type: 'directory' }, ...entries]),
    )
    await run('sign @tar.tgz --key @acme.key --out @signed.tgz')
    expect((await run('verify @signed.tgz')).code).toBe(0)
    expect(await run('verify @tar.tgz')).toMatchObject(failure(/is not signed/))
  })

  it('name the file that was changed, and the publisher that has signed instead', async () => {
    await keygen()
    await keygen('beta', 'Beta')
    await run('sign @crowd --key @beta.key')
    expect(await run('verify @crowd --key @acme.pub')).toMatchObject(
      failure(/is signed with the key \w{64} of "Beta", not with that of Acme Vision/),
    )
    writeFileSync(join(folder, 'crowd/element.ts'), 'export default {}')
    expect(await run('verify @crowd')).toMatchObject(
      failure(/crowd is not valid: "element\.ts" was changed/),
    )
    await run('sign @crowd --key @acme.key')
    expect((await run('verify @crowd --key @acme.pub')).code).toBe(0)
  })

  it.each([
    ['sign @crowd', 2, /--key is missing/],
    ['keygen @acme', 2, /--publisher is missing/],
    ['sign @crowd --key @none.key', 1, /none\.key does not exist/],
    [
      'sign @crowd --key @crowd/plugin.json',
      1,
      /plugin\.json is not valid: \/publisher: is required/,
    ],
    ['sign @none --key @acme.key', 1, /none does not exist/],
    ['sign @acme.pub --key @acme.key', 1, /acme\.pub is not a complete package of a plugin/],
    ['verify @crowd --key @acme.key', 1, /acme\.key is not valid: \/key: is required/],
    ['keygen @other --publisher A␣␣B', 1, /--publisher A {2}B must be words of visible characters/],
  ])('report why "%s" fails', async (line, code, reason) => {
    await keygen()
    const answer = await run(line)
    expect(answer).toEqual({ code, out: '', err: expect.stringMatching(reason) })
    expect(answer.err).not.toContain('PRIVATE KEY')
  })
})

describe('eyrie plugin trust', () => {
  it('decides which plugins the engine accepts, from the generation of keys to the end of the trust', async () => {
    await keygen()
    const key = keyOf('acme')
    await run('sign @crowd --key @acme.key')
    writePlugin(folder, { name: 'own' })

    expect((await run('trust @acme.pub')).out).toBe(
      `trusted Acme Vision (key ${key})\nFrom now on, the engine accepts only plugins of trusted publishers.\n`,
    )
    expect((await run('add @crowd')).out).toMatch(
      new RegExp(
        `^crowd 1\\.0\\.0 is signed by Acme Vision, key ${key}\n(?:.*\n)+added crowd 1\\.0\\.0; 1\\.0\\.0 is active\n$`,
      ),
    )
    expect((await run('list')).out).toMatch(
      /^crowd +1\.0\.0 +active +uploaded +signed by Acme Vision +Apache/m,
    )
    expect((await run('show crowd')).out).toMatch(
      new RegExp(
        `^crowd 1\\.0\\.0 \\(uploaded, active\\)\\n {2}signed by Acme Vision, key ${key}$`,
        'm',
      ),
    )
    expect((await run('add @own')).err).toMatch(/it is not signed.*eyrie plugin allow own/)
    expect((await run('allow own')).out).toBe('allowed own\n')
    expect((await run('add @own')).out).toMatch(
      /^own 1\.0\.0 is unsigned\n(?:.*\n)+added own 1\.0\.0/,
    )
    expect((await run('publishers')).out).toMatch(
      new RegExp(
        `^Acme Vision +trusted +\\S+Z +${key}\\nsignatures of uploaded plugins: required\\naccepted without them: own$`,
        'm',
      ),
    )
    expect((await run('disallow own')).out).toMatch(
      /^disallowed own\ndoes not start: own 1\.0\.0: it is not signed/,
    )

    const distrusted = await run('distrust Acme␣Vision')
    expect(distrusted.out).toMatch(`distrusted Acme Vision (key ${key})\n`)
    expect(distrusted.out).toMatch(
      /^does not start: crowd 1\.0\.0: its publisher Acme Vision has been distrusted/m,
    )
    expect((await run('list')).out).toMatch(
      /^crowd +1\.0\.0 +active, refused +uploaded +signed by Acme Vision \(distrusted\)/m,
    )
    expect((await run(`trust ${key}`)).out).not.toMatch(/does not start: crowd/)
    expect((await run(`distrust ${key} --delete`)).out).toBe(
      `deleted Acme Vision (key ${key})\nThe engine accepts plugins of all publishers, and plugins without a signature.\n`,
    )
    expect((await run('show crowd')).out).toMatch(/signed by unknown publisher "Acme Vision", key/)
    expect(JSON.parse((await run('publishers --json')).out)).toMatchObject({
      signatures: 'optional',
    })
  })

  it('accepts another publisher of a plugin only with --new-publisher', async () => {
    await keygen()
    await keygen('beta', 'Beta')
    writePlugin(folder, { name: 'gate' })
    await run('sign @gate --key @acme.key')
    await run('add @gate')
    writePlugin(folder, { name: 'gate', version: '1.1.0' })
    await run('sign @gate --key @beta.key')
    expect((await run('add @gate')).err).toMatch(/eyrie plugin add --new-publisher/)
    expect((await run('add @gate --new-publisher')).out).toMatch(
      /^gate 1\.1\.0 is signed by unknown publisher "Beta", key .*\n(?:.*\n)+added gate 1\.1\.0; 1\.0\.0 is active\n$/,
    )
  })

  it.each([
    ['trust @none.pub', 1, /none\.pub does not exist/],
    ['trust @acme.key', 1, /acme\.key is not valid: \/key: is required/],
    [`trust ${'a'.repeat(64)}`, 2, /--name is missing/],
    ['distrust Nobody', 1, /knows no publisher Nobody: eyrie plugin publishers/],
    ['disallow nothing', 1, /nothing is no exception/],
  ])('reports why "%s" fails', async (line, code, reason) => {
    await keygen()
    expect(await run(line)).toEqual({ code, out: '', err: expect.stringMatching(reason) })
  })
})
