import { describe, expect, it } from 'vitest'
import { UsageError } from '../command/command.ts'
import { parseFraction, parseModelOptions } from './model-options.ts'

describe('a fraction', () => {
  it.each([
    ['0.5', 0.5],
    ['-2', -2],
    ['1/255', 1 / 255],
    [' 1 / 4 ', 0.25],
  ])('is parsed from %j', (text, expected) => {
    expect(parseFraction(text)).toBe(expected)
  })

  it.each(['', '/', '1/', '/2', '1/0', '0/0', '1/2/3', 'one', '1/two', 'Infinity'])(
    'is NaN for %j',
    text => {
      expect(parseFraction(text)).toBeNaN()
    },
  )
})

describe('model options', () => {
  it.each(['1/', '1/0', '0', '1,2,3'])('reject the scale %s', async scale => {
    await expect(parseModelOptions({ scale })).rejects.toThrow(
      new UsageError(`--scale ${scale} should be a number other than 0`),
    )
  })

  it('parse thresholds, also those of single classes', async () => {
    const options = {
      'score-threshold': '0.25',
      'iou-threshold': '0.5',
      'class-score-threshold': ['airplane=0.9', 'traffic light=0.5'],
    }
    expect(await parseModelOptions(options)).toEqual({
      normalization: {},
      score_threshold: 0.25,
      iou_threshold: 0.5,
      class_score_thresholds: { airplane: 0.9, 'traffic light': 0.5 },
    })
  })

  it.each([
    [{ 'score-threshold': '2' }, '--score-threshold 2 should be a number from 0 to 1'],
    [{ 'iou-threshold': '' }, '--iou-threshold  should be a number from 0 to 1'],
    [
      { 'class-score-threshold': ['0.9'] },
      '--class-score-threshold 0.9 should be a class and a number, such as airplane=0.9',
    ],
    [
      { 'class-score-threshold': ['airplane=high'] },
      '--class-score-threshold high should be a number from 0 to 1',
    ],
  ])('reject %j', async (options, message) => {
    await expect(parseModelOptions(options)).rejects.toThrow(new UsageError(message))
  })

  it('describe a COCO detector for the labels coco, unless other options replace its properties', async () => {
    expect(
      await parseModelOptions({ labels: 'coco', 'suppress-together': ['car,truck'] }),
    ).toMatchObject({
      labels: expect.arrayContaining(['person', 'toothbrush']),
      suppress_together: [['car', 'truck']],
      class_score_thresholds: { airplane: 0.9, boat: 0.9 },
    })
  })

  it('parse one mean for all channels or one per channel', async () => {
    expect(await parseModelOptions({ mean: '127.5', std: '1/2,1,2' })).toEqual({
      normalization: { mean: [127.5], std: [0.5, 1, 2] },
    })
  })
})
