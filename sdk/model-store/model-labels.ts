import type { ModelCard } from '@eyrie/contract/model'

/** The 80 classes of COCO, in the order that detectors trained on it use. Source: cocodataset.org, "2017 categories". */
export const cocoLabels: readonly string[] = `
person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign,
parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella, handbag,
tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, surfboard,
tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, broccoli, carrot,
hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv, laptop, mouse, remote,
keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, scissors, teddy bear,
hair drier, toothbrush`
  .split(',')
  .map(label => label.trim())

/** COCO detectors often report one vehicle under two of these labels. */
export const cocoSuppressTogether: ModelCard['suppress_together'] = [['car', 'bus', 'truck']]

/** Parses a text file with one label per line, in the order of the model's classes. Throws an `Error` for empty lines. */
export function parseLabels(text: string): string[] {
  const labels = text.split(/\r?\n/).map(line => line.trim())
  while (labels.at(-1) === '') labels.pop()
  const empty = labels.indexOf('')
  if (labels.length === 0) throw new Error('the labels file is empty: write one class per line')
  if (empty >= 0) throw new Error(`line ${empty + 1} of the labels file is empty: every class needs a label`)
  return labels
}
