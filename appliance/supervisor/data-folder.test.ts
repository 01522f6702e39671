import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSmallDisk } from '../../test/fixtures/processes/small-disk.ts'
import { mountRequirement } from '../../test/fixtures/requirements/mount-namespace.ts'
import { needs } from '../../test/fixtures/requirements/needs.ts'
import { root } from '../../test/fixtures/requirements/root.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { getOrCreateSecret, lockDataFolder } from './data-folder.ts'

describe('lockDataFolder', () => {
  it('rejects a data folder that another supervisor uses, until that one is killed', async () => {
    const data = createTemporaryFolder()
    const script = `
      import { lockDataFolder } from '${join(import.meta.dirname, 'data-folder.ts')}'
      await lockDataFolder(${JSON.stringify(data)})
      console.log('locked')
      process.stdin.resume()`
    const other = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    await once(other.stdout, 'data')
    await expect(lockDataFolder(data)).rejects.toThrow(
      `${data} is in use by another process, probably ${other.pid}: stop it`,
    )
    other.kill('SIGKILL')
    await once(other, 'exit')
    const unlock = await lockDataFolder(data)
    unlock()
    unlock()
  })

  it('takes over the data folder of a killed supervisor whose pid another one has now', async () => {
    const data = createTemporaryFolder()
    const other = spawn(process.execPath, ['-e', 'process.stdin.resume()', 'appliance/main.ts'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    await once(other, 'spawn')
    onTestFinished(() => void other.kill('SIGKILL'))
    writeFileSync(join(data, 'supervisor.pid'), String(other.pid))
    const unlock = await lockDataFolder(data)
    unlock()
    expect(existsSync(join(data, 'supervisor.pid'))).toBe(false)
  })

  it('locks the data folder on a full disk', needs(mountRequirement), () => {
    const disk = createSmallDisk('64k')
    onTestFinished(() => disk.remove())
    const script = `
      import { writeFileSync } from 'node:fs'
      import { lockDataFolder } from '${join(import.meta.dirname, 'data-folder.ts')}'
      const data = ${JSON.stringify(disk.folder)}
      try { writeFileSync(data + '/filler', Buffer.alloc(1 << 20)) } catch ({ code }) { console.log(code) }
      const unlock = await lockDataFolder(data)
      console.log('locked')
      unlock()`
    const node = [process.execPath, '--input-type=module-typescript', '-e', script]
    const [program = '', ...args] = [...disk.launcher, ...node]
    const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
    expect({ stdout, stderr }).toEqual({ stdout: 'ENOSPC\nlocked\n', stderr: '' })
  })

  it('says how to take over the data folder of another user', needs(root), () => {
    const data = createTemporaryFolder()
    const script = `
      import { lockDataFolder } from '${join(import.meta.dirname, 'data-folder.ts')}'
      try { await lockDataFolder(${JSON.stringify(data)}) } catch ({ message }) { process.stdout.write(message) }`
    chmodSync(data, 0o711)
    const { stdout } = spawnSync(
      process.execPath,
      ['--input-type=module-typescript', '-e', script],
      {
        ...{ uid: 65_534, gid: 65_534, cwd: '/', env: {}, encoding: 'utf8' },
      },
    )
    expect(stdout).toMatch(/belongs to another user: start Eyrie as root, or .*chown -R/)
  })
})

describe('a data folder where the system creates no folders', () => {
  it.each([
    ['main.ts', '/proc/none/data', '/proc/none/data cannot be created (ENOENT'],
    ['engine-only.ts', '/proc/none/data', '/proc/none/data cannot be created (ENOENT'],
    ['main.ts', '/proc', "ENOENT: no such file or directory, open '/proc/supervisor.pid'"],
  ])('is rejected by %s: %s', (entry, data, reason) => {
    const env = { PATH: process.env.PATH, EYRIE_DATA: data }
    const program = resolve(import.meta.dirname, '..', entry)
    const { status, stdout } = spawnSync(process.execPath, [program], {
      ...{ env, encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' },
    })
    expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringContaining(reason) })
  })
})

describe('getOrCreateSecret', () => {
  it('generates a secret once, readable only by its owner', () => {
    const data = createTemporaryFolder()
    const generated = getOrCreateSecret(data, 'engine-token')
    expect(generated).toMatch(/^[\w-]{43}$/)
    expect(getOrCreateSecret(data, 'engine-token')).toBe(generated)
    expect(getOrCreateSecret(data, 'internal-token')).not.toBe(generated)
    expect(readdirSync(join(data, 'secrets'))).toEqual(['engine-token', 'internal-token'])
    expect(statSync(join(data, 'secrets/engine-token')).mode & 0o777).toBe(0o600)
  })

  it('replaces a link that waits in the place of a new secret', () => {
    const data = createTemporaryFolder()
    const target = join(data, 'target')
    mkdirSync(join(data, 'secrets'))
    symlinkSync(target, join(data, 'secrets/engine-token.new'))
    getOrCreateSecret(data, 'engine-token')
    expect(existsSync(target)).toBe(false)
  })

  it('regenerates a secret whose file is empty after a power failure', () => {
    const data = createTemporaryFolder()
    mkdirSync(join(data, 'secrets'))
    writeFileSync(join(data, 'secrets/engine-token'), '')
    expect(getOrCreateSecret(data, 'engine-token')).toMatch(/^[\w-]{43}$/)
  })
})
