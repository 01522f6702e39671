import { closeSync, fstatSync, openSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { isJournal } from './journal.ts'

it('recognizes the journal by its stream, not by the variable that a terminal has inherited', () => {
  const descriptor = openSync('/dev/null', 'w')
  onTestFinished(() => closeSync(descriptor))
  const { dev, ino } = fstatSync(descriptor)
  expect(isJournal(descriptor, { JOURNAL_STREAM: `${dev}:${ino}` })).toBe(true)
  expect(isJournal(descriptor, { JOURNAL_STREAM: `${dev}:${ino + 1}` })).toBe(false)
  expect(isJournal(descriptor, {})).toBe(false)
})
