import { describe, expect, it } from 'vitest'
import { describeError } from './error-location.ts'

function withStack(message: string, stack: string): Error {
  const error = new Error(message)
  error.stack = stack
  return error
}

describe('the description of an error of an element', () => {
  it('has the place in the plugin that is nearest to the error', () => {
    const error = withStack(
      'limit is not defined',
      `ReferenceError: limit is not defined
    at check (file:///plugins/my%20crowd/node_modules/x/index.js:1:1)
    at check (file:///plugins/my%20crowd/lib/check.ts:3:7)
    at process (file:///plugins/my%20crowd/element.ts:12:5)`,
    )
    expect(describeError(error, '/plugins/my crowd')).toBe(
      'limit is not defined (lib/check.ts:3:7)',
    )
  })

  it('has the line of a syntax error', () => {
    const error = withStack(
      'Expression expected',
      '/plugins/crowd/element.ts:3\n  c: ,\n\nSyntaxError: Expression expected',
    )
    expect(describeError(error, '/plugins/crowd')).toBe('Expression expected (element.ts:3)')
  })

  it('is the message if the error is from elsewhere', () => {
    expect(describeError(new Error('no camera'), '/plugins/crowd')).toBe('no camera')
    expect(describeError('no camera', '/plugins/crowd')).toBe('no camera')
  })
})
