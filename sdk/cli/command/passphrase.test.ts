import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { readNewPassphrase, readPassphrase } from './passphrase.ts'

const passphrase = 'correct horse battery staple'

/** A terminal on whose keyboard somebody answers each question with the next text. */
function createKeyboard(...answers: string[]) {
  const shown = { text: '' }
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const show = (text: string) => {
    shown.text += text
    if (text.endsWith(': ')) setImmediate(() => input.write(answers.shift() ?? '\u0003'))
  }
  return { shown, terminal: { data: '', input, out: { write: show }, err: { write: show } } }
}

const silent = { data: '', out: { write: () => {} }, err: { write: () => {} } }

describe('a passphrase', () => {
  it('is asked for twice for a new file, and never shown', async () => {
    const { terminal, shown } = createKeyboard(`${passphrase}\r`, `${passphrase}\r`)
    expect(await readNewPassphrase(terminal, undefined)).toBe(passphrase)
    expect(shown.text).toBe('Passphrase: \nRepeat the passphrase: \n')
  })

  it.each([
    [
      'differs when it is repeated',
      [`${passphrase}\r`, 'another passphrase\r'],
      'the two passphrases differ',
    ],
    ['is too short', ['short\r'], 'use at least 12 characters'],
    ['is empty', ['\r'], 'the passphrase is empty'],
    ['is interrupted', ['corr\u0003'], 'no passphrase was entered'],
  ])('is rejected if it %s', async (_, answers, reason) => {
    await expect(readNewPassphrase(createKeyboard(...answers).terminal, undefined)).rejects.toThrow(
      reason,
    )
  })

  it('is read from a file or from standard input, without the line break at its end', async () => {
    const file = join(createTemporaryFolder(), 'passphrase')
    writeFileSync(file, ` ${passphrase}\n`)
    expect(await readPassphrase(silent, file)).toBe(` ${passphrase}`)
    const input = Readable.from([`${passphrase}\r\n`])
    expect(await readNewPassphrase({ ...silent, input }, '-')).toBe(passphrase)
  })

  it('is not read from a folder, with the name of it in the error', async () => {
    const folder = createTemporaryFolder()
    await expect(readPassphrase(silent, folder)).rejects.toThrow(`${folder} cannot be read: EISDIR`)
  })

  it('needs a file if standard input is not a terminal', async () => {
    const input = Readable.from([passphrase])
    await expect(readPassphrase({ ...silent, input }, undefined)).rejects.toThrow(
      'use --passphrase-file <file>',
    )
  })
})
