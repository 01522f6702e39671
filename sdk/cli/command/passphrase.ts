import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { MIN_PASSPHRASE_LENGTH } from '@eyrie/contract/backup'
import { readLocalFile } from './local-files.ts'
import type { Terminal } from './terminal.ts'

/**
 * Reads passphrases from a file, from standard input or from the keyboard. They are never arguments
 * or environment variables, which other processes can read.
 */

export const PASSPHRASE_OPTION = { 'passphrase-file': { type: 'string' } } as const

/**
 * Reads a passphrase from a file, from standard input if `file` is `-`, or from the keyboard if it
 * is undefined. Throws an `Error` if it is empty.
 */
export async function readPassphrase(
  terminal: Terminal,
  file: string | undefined,
): Promise<string> {
  const passphrase =
    file === undefined ? await ask(terminal, 'Passphrase: ') : await readLine(terminal, file)
  if (passphrase === '') throw new Error('the passphrase is empty')
  return passphrase
}

/**
 * Reads the passphrase of a new file, which is asked for twice. Throws an `Error` if it is too
 * short.
 */
export async function readNewPassphrase(
  terminal: Terminal,
  file: string | undefined,
): Promise<string> {
  const passphrase = await readPassphrase(terminal, file)
  if (passphrase.length < MIN_PASSPHRASE_LENGTH) {
    throw new Error(`the passphrase is too short: use at least ${MIN_PASSPHRASE_LENGTH} characters`)
  }
  if (file === undefined && (await ask(terminal, 'Repeat the passphrase: ')) !== passphrase) {
    throw new Error('the two passphrases differ')
  }
  return passphrase
}

/** Returns the text of a file or of standard input without the line break at its end. */
async function readLine({ input }: Terminal, file: string): Promise<string> {
  const content = file === '-' && input ? await text(input) : String(await readLocalFile(file))
  return content.replace(/\r?\n$/, '')
}

/**
 * Asks a question and reads the answer without showing it. Throws an `Error` if standard
 * input is not a terminal.
 */
async function ask({ input, err }: Terminal, question: string): Promise<string> {
  if (!input?.isTTY) {
    throw new Error(
      'a passphrase is needed: use --passphrase-file <file>, or - to read it from standard input',
    )
  }

  // The reader would write what is typed.
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({ input, output: hidden, terminal: true })
  const closed = new Promise<never>((_, reject) => {
    reader.once('SIGINT', () => reader.close())
    reader.once('close', () => reject(new Error('no passphrase was entered')))
  })
  try {
    err.write(question)
    return await Promise.race([reader.question(''), closed])
  } finally {
    // Closing the reader rejects the promise, which is no longer awaited.
    closed.catch(() => {})
    reader.close()
    err.write('\n')
  }
}
