import { describe, expect, it } from 'vitest'
import { findSecrets, redact } from './redaction.ts'

describe('redact', () => {
  it.each([
    ['rtsp://user:hunter2@camera/door', 'rtsp://user:***@camera/door'],
    ['rtsp://user:p%40ss:word@camera:554/', 'rtsp://user:***@camera:554/'],
    ['{"password":"a \\" b","port":1}', '{"password":"***","port":1}'],
    ['{"api_key": "x", "smtpPassword": "y"}', '{"api_key": "***", "smtpPassword": "***"}'],
    ['GET /output?access_token=abc&since=1', 'GET /output?access_token=***&since=1'],
    ['Authorization: Bearer abc.def-ghi', 'Authorization: Bearer ***'],
  ])('redacts values in the position of a secret: %s', (text, redacted) => {
    expect(redact(text, [])).toBe(redacted)
  })

  it.each([
    'http://127.0.0.1:8100/api/v3',
    'rtsp://camera:554/door@left',
    '{"model":"scene-detector","score":0.5}',
    '12:00:00 engine ! camera lost source=3 reason=timeout',
  ])('leaves text without secrets unchanged: %s', text => {
    expect(redact(text, [])).toBe(text)
  })

  it('redacts known secrets everywhere, in every encoding', () => {
    const secrets = ['pass/"word']
    expect(redact('raw pass/"word, JSON "pass/\\"word", URL pass%2F%22word', secrets)).toBe(
      'raw ***, JSON "***", URL ***',
    )
  })

  it('ignores secrets that are too short', () => {
    expect(redact('a camera', ['a', ''])).toBe('a camera')
  })
})

describe('findSecrets', () => {
  it('returns passwords in fields and URLs, decoded and as written', () => {
    const stored = {
      sources: [
        { address: 'rtsp://u:p%40ss@c/' },
        { address: { url: 'rtsp://c/', password: 'a"b' } },
      ],
    }
    expect(findSecrets(JSON.stringify(stored, null, 2))).toEqual(['a"b', 'p%40ss', 'p@ss'])
  })
})
