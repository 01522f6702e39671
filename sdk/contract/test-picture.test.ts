import { describe, expect, it } from 'vitest'
import { parseTestPicture } from './test-picture.ts'

describe('address of a test picture', () => {
  it.each([
    ['test://ball', { pattern: 'ball', width: 1280, height: 720, fps: 25 }],
    ['test://', { pattern: 'smpte', width: 1280, height: 720, fps: 25 }],
    [
      'test://snow?width=320&height=180&fps=10',
      { pattern: 'snow', width: 320, height: 180, fps: 10 },
    ],
    ['test://ball?fps=1', { pattern: 'ball', width: 1280, height: 720, fps: 1 }],
  ])('%s', (url, picture) => {
    expect(parseTestPicture(url)).toEqual(picture)
  })

  it.each([
    'test://BALL',
    'test://ball/left',
    'test://ball?width=321',
    'test://ball?width=0',
    'test://ball?width=',
    'test://ball?height=8192',
    'test://ball?fps=12.5',
    'test://ball?fps=-1',
    'test://ball?speed=2',
    'https://ball',
  ])('%s is invalid', url => {
    expect(parseTestPicture(url)).toBeUndefined()
  })
})
