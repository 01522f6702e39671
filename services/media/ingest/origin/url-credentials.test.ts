import { expect, it } from 'vitest'
import { extractCredentials } from './url-credentials.ts'

it.each([
  ['rtsp://camera/1', '', ''],
  ['rtsp://viewer@camera/1', 'viewer', ''],
  ['rtsp://viewer:secret@camera/1', 'viewer', 'secret'],
  ['https://view%20er:p%40ss%2525%C3%B6@camera/1', 'view er', 'p@ss%25ö'],
  ['http://viewer:100%@camera/1', 'viewer', '100%'],
  ['http://viewer:100%zz%40@camera/1', 'viewer', '100%zz@'],
  ['http://viewer:p@ss:word@camera/1', 'viewer', 'p@ss:word'],
])('the credentials are extracted and removed from %s', (address, username, password) => {
  const url = new URL(address)
  expect(extractCredentials(url, {})).toEqual({ username, password })
  expect(url.href).toBe(`${url.protocol}//camera/1`)
})

it('separate credentials take precedence over those in the URL', () => {
  const url = new URL('rtsp://viewer:secret@camera/1')
  expect(extractCredentials(url, { username: 'other', password: '100%25' })).toEqual({
    username: 'other',
    password: '100%25',
  })
  expect(url.href).toBe('rtsp://camera/1')
})
