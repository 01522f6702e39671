import { describe, expect, it } from 'vitest'
import { parseAs } from './parse.ts'
import { checkSdkRange, SDK_VERSION, type SdkRange, sdkRange } from './sdk-version.ts'

describe('SDK range', () => {
  it.each<[SdkRange, string]>([
    [1, '1.1.0'],
    [1, '1.9.3'],
    ['^1', '1.1.0'],
    ['^1.1', '1.1.0'],
    ['^1.1.0', '1.2.0'],
    ['^1.1.2', '1.2.0'],
  ])('%s includes version %s', (range, version) => {
    expect(checkSdkRange(range, version)).toBeUndefined()
  })

  it.each<[SdkRange, string, RegExp]>([
    [2, '1.1.0', /written for version 2 of the element SDK; this engine has 1\.1\.0: update Eyrie/],
    ['^1.2', '1.1.0', /version \^1\.2 .*update Eyrie/],
    ['^1.1.1', '1.1.0', /version \^1\.1\.1 .*update Eyrie/],
    [1, '2.0.0', /install a newer version of the plugin/],
  ])('%s excludes version %s, with the remedy', (range, version, reason) => {
    expect(checkSdkRange(range, version)).toMatch(reason)
  })

  it('includes the SDK of this release for plugins of its first version', () => {
    expect(checkSdkRange(1, SDK_VERSION)).toBeUndefined()
  })

  it.each(['latest', '>=1', '1.1.0', '^1.x', '^01'])('is not "%s"', range => {
    expect(() => parseAs(sdkRange, range)).toThrow(
      'must be a major version such as 1, or a range such as',
    )
  })
})
