import { expect, test } from 'vitest'
import { scrub, secretsIn } from './scrub.ts'

test.each([
  ['rtsp://user:hunter2@camera/door', 'rtsp://user:***@camera/door'],
  ['rtsp://user:p%40ss:word@camera:554/', 'rtsp://user:***@camera:554/'],
  ['{"password":"a \\" b","port":1}', '{"password":"***","port":1}'],
  ['{"api_key": "x", "smtpPassword": "y"}', '{"api_key": "***", "smtpPassword": "***"}'],
  ['GET /output?access_token=abc&since=1', 'GET /output?access_token=***&since=1'],
  ['Authorization: Bearer abc.def-ghi', 'Authorization: Bearer ***'],
])('hides what stands where secrets do: %s', (text, scrubbed) => {
  expect(scrub(text, [])).toBe(scrubbed)
})

test.each([
  'http://127.0.0.1:8100/api/v3',
  'rtsp://camera:554/door@left',
  '{"model":"scene-detector","score":0.5}',
  '12:00:00 engine ! camera lost source=3 reason=timeout',
])('leaves alone what is none: %s', text => {
  expect(scrub(text, [])).toBe(text)
})

test('hides known secrets wherever they are, also where they are written otherwise', () => {
  const secrets = ['tell/no"one']
  expect(scrub('said tell/no"one twice: "tell/no\\"one", tell%2Fno%22one', secrets)).toBe(
    'said *** twice: "***", ***',
  )
})

test('does not take every letter for a secret', () => {
  expect(scrub('a camera', ['a', ''])).toBe('a camera')
})

test('finds the secrets of a configuration', () => {
  const stored = {
    sources: [{ address: 'rtsp://u:p%40ss@c/' }, { address: { url: 'rtsp://c/', password: 'a"b' } }],
  }
  expect(secretsIn(JSON.stringify(stored, null, 2))).toEqual(['a"b', 'p%40ss', 'p@ss'])
})
