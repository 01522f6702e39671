import type { AddModel } from './add.ts'
import { cocoLabels, cocoSuppressTogether } from './labels.ts'

/** A model that can be fetched from where its authors publish it. */
export interface PublishedModel {
  url: string
  /** Of the file at `url`, before it is edited. */
  sha256: string
  about: string
  options: Omit<AddModel, 'name' | 'model'>
}

/** YOLOX reads blue, green, red from 0 to 255; releases since 0.1.1 need no normalisation. */
const yolox = (file: string, sha256: string, about: string): PublishedModel => {
  const url = `https://github.com/Megvii-BaseDetection/YOLOX/releases/download/0.1.1rc0/${file}`
  return {
    url,
    sha256,
    about,
    options: {
      head: 'yolox',
      labels: [...cocoLabels],
      color: 'bgr',
      suppress_together: cocoSuppressTogether,
      license: 'Apache-2.0',
      source: url,
    },
  }
}

/** Models of permissive licences, by the name under which they are added. */
export const publishedModels: Readonly<Record<string, PublishedModel>> = {
  'yolox-nano': yolox(
    'yolox_nano.onnx',
    'c789161ed43c8269fcd4e67c67eeeb4e80c622da2eb296a20bc6007bd18a0b7d',
    '80 everyday classes, 3.7 MB, the fastest',
  ),
  'yolox-tiny': yolox(
    'yolox_tiny.onnx',
    '427cc366d34e27ff7a03e2899b5e3671425c262ea2291f88bb942bc1cc70b0f7',
    '80 everyday classes, 20 MB, finds more',
  ),
}
