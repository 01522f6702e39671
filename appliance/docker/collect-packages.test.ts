import { globSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { findProgramParts, isNeeded, listPackageFolders } from './collect-packages.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const find = (...programs: string[]) => findProgramParts(programs)

describe('findProgramParts', () => {
  it('finds packages behind modules of the workspace, and behind programs that a program starts', () => {
    const { modules, packages } = find('services/engine/main.ts')
    expect(modules).toContain(resolve(ROOT, 'services/engine/inference/inference-worker.ts'))
    expect([...packages]).toEqual(expect.arrayContaining(['hono', 'onnxruntime-node', 'zeromq']))
  })

  it('omits packages of other services', () => {
    const { packages } = find('services/scheduler/main.ts')
    for (const name of ['onnxruntime-node', 'mediasoup', 'drizzle-orm', 'pdfkit']) {
      expect(packages).not.toContain(name)
    }
  })

  it('omits what only excluded modules load', () => {
    const tracing = resolve(ROOT, 'services/kit/open-telemetry.ts')
    expect(find('services/kit/index.ts').packages).toContain('@opentelemetry/sdk-trace')
    const { packages } = findProgramParts(['services/kit/index.ts'], new Set([tracing]))
    expect(packages).not.toContain('@opentelemetry/sdk-trace')
  })

  it('finds every package of a service that its modules import', () => {
    const programs = globSync('services/*/main.ts', { cwd: ROOT })
    const { packages } = find(...programs, ...globSync('plugins/*/element.ts', { cwd: ROOT }))
    for (const name of [
      '@techstark/opencv-js',
      'mediasoup',
      'nodemailer',
      'twilio',
      'pdfkit',
      'node-ical',
    ]) {
      expect(packages).toContain(name)
    }
  })
})

it('lists packages with all packages that they need', () => {
  const folders = listPackageFolders(['nodemailer', 'bree'])
  expect(folders).toEqual(expect.arrayContaining(['node_modules/bree', 'node_modules/nodemailer']))
  expect(folders.length).toBeGreaterThan(5)
})

describe('isNeeded', () => {
  const library = (architecture: string) =>
    `node_modules/onnxruntime-node/bin/napi-v6/linux/${architecture}/libonnxruntime.so.1`
  const addon = (architecture: string) =>
    `node_modules/zeromq/build/linux/${architecture}/node/137/addon.node`

  test.each([
    ['x64', 'arm64'],
    ['arm64', 'x64'],
  ])('keeps native code for %s in its image, and no code for %s', (architecture, other) => {
    for (const path of [library, addon]) {
      expect(isNeeded(path(architecture), architecture)).toBe(true)
      expect(isNeeded(path(other), architecture)).toBe(false)
    }
  })

  it('omits other systems, declarations and documentation, but no licence', () => {
    for (const path of ['bin/napi-v6/darwin/arm64/a.dylib', 'index.d.ts', 'docs', 'README.md']) {
      expect(isNeeded(`node_modules/onnxruntime-node/${path}`, 'arm64')).toBe(false)
    }
    expect(isNeeded('node_modules/onnxruntime-node/LICENSE.md', 'arm64')).toBe(true)
  })

  it('omits builds for browsers, and keeps those for Node', () => {
    const builds = ['mqtt/dist', 'fontkit/dist/browser-module.mjs', 'pdfkit/js/pdfkit.browser.js']
    for (const path of [...builds, 'yaml/browser', 'pako/dist', 'axios/dist/browser']) {
      expect(isNeeded(`node_modules/${path}`, 'x64')).toBe(false)
    }
    const modules = [
      'mqtt',
      'fontkit',
      'pdfkit',
      'csv-parse',
      'csv-stringify/sync',
      'yaml',
      'pako',
      'axios',
    ]
    for (const name of [
      ...modules,
      'temporal-polyfill',
      'brotli/decompress.js',
      '@noble/hashes/sha2.js',
    ]) {
      const path = relative(ROOT, fileURLToPath(import.meta.resolve(name)))
      expect(isNeeded(path, 'x64')).toBe(true)
      expect(isNeeded(dirname(path), 'x64')).toBe(true)
    }
  })
})
