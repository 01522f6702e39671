import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSbom } from './sbom.ts'

const ROOT = resolve(import.meta.dirname, '../..')

describe('createSbom', () => {
  const sbom = createSbom(ROOT)
  const find = (name: string) => sbom.components.find(component => component.name === name)

  it('lists npm packages with their versions, licenses and hashes', () => {
    expect(find('hono')).toEqual({
      type: 'library',
      'bom-ref': expect.stringMatching(/^pkg:npm\/hono@4\.[\d.]+$/),
      name: 'hono',
      version: expect.stringMatching(/^4\./),
      purl: expect.stringMatching(/^pkg:npm\/hono@4\.[\d.]+$/),
      licenses: [{ expression: 'MIT' }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    })
    expect(find('@hono/node-server')?.purl).toMatch(/^pkg:npm\/%40hono\/node-server@/)
    expect(find(`node-linux-${process.arch}`)?.hashes).toHaveLength(1)
  })

  it('lists neither packages of other platforms nor those of the development', () => {
    const names = sbom.components.map(({ name }) => name)
    expect(names.filter(name => /darwin|win32|musl/.test(name))).toEqual([])
    expect(names).not.toContain('vitest')
  })

  it('lists installed Debian packages and what they need', () => {
    const version = (name: string) =>
      execFileSync('dpkg-query', ['-W', '-f', `\${Version}`, name], { encoding: 'utf8' })
    for (const name of ['gstreamer1.0-libav', 'libgstreamer1.0-0', 'libc6']) {
      expect(find(name)).toMatchObject({
        version: version(name),
        purl: expect.stringMatching(/^pkg:deb\/debian\/.*@.*\?arch=\w+&distro=debian-\d+$/),
      })
    }
  })

  it('names each component once, and only components of the document as dependencies', () => {
    const refs = sbom.components.map(component => component['bom-ref'])
    expect(new Set(refs).size).toBe(refs.length)
    const known = new Set(['eyrie', ...refs])
    const unknown = sbom.dependencies
      .flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
      .filter(ref => !known.has(ref))
    expect(unknown).toEqual([])
    expect(
      sbom.dependencies.find(({ ref }) => ref === find('mediasoup')?.purl)?.dependsOn,
    ).toContain(find('h264-profile-level-id')?.purl)
  })

  it('is the same every time', () => {
    expect(createSbom(ROOT)).toEqual(sbom)
  })
})
