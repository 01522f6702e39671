import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createDescriptorSockets, receiveDescriptor, sendDescriptor } from './descriptors.ts'

describe('descriptors', () => {
  it('are received in order, as they were opened, and work when the file has been deleted', () => {
    const [own, other] = createDescriptorSockets()
    expect(receiveDescriptor(other)).toBeUndefined()
    const folder = createTemporaryFolder()
    for (const name of ['first', 'second']) {
      const path = join(folder, name)
      writeFileSync(path, name)
      const file = openSync(path, 'r')
      expect(sendDescriptor(own, file)).toBe(true)
      closeSync(file)
      rmSync(path)
    }
    for (const name of ['first', 'second']) {
      const received = receiveDescriptor(other)!
      const content = Buffer.alloc(10)
      expect(content.toString('utf8', 0, readSync(received, content))).toBe(name)
      expect(() => writeSync(received, 'x')).toThrow(/EBADF/)
      closeSync(received)
    }
    closeSync(own)
    closeSync(other)
  })

  it('are not sent when the receiver has closed its socket', () => {
    const [own, other] = createDescriptorSockets()
    closeSync(other)
    expect(sendDescriptor(own, 0)).toBe(false)
    closeSync(own)
  })

  it('compile without warnings', () => {
    const include = resolve(process.execPath, '../../include/node')
    const warnings = ['-Wall', '-Wextra', '-Wconversion', '-Werror', '-fsyntax-only']
    const source = resolve(import.meta.dirname, 'src/descriptors.c')
    execFileSync('gcc', ['-std=gnu11', ...warnings, '-isystem', include, source], { stdio: 'pipe' })
  })
})
