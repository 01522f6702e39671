import { z } from 'zod'

/**
 * Statistics of the decoded pictures of a source. They are measured about once per second on small
 * copies of the pictures, while the source is decoded.
 */
export const pictureStatistics = z
  .strictObject({
    brightness: z.number().meta({ description: 'Mean luma, 0 to 255' }),
    contrast: z.number().meta({ description: 'Standard deviation of the luma' }),
    still_s: z.number().meta({
      description: 'Seconds for which all pictures were identical in every examined pixel',
    }),
    sharpness: z.number().meta({
      description:
        'Energy of the finest details in relation to the edges. Comparable only for the same source',
    }),
    edges: z.base64().meta({
      description:
        'Signature of the scene: for each cell of a grid of 16 columns and 9 rows, row by row, two signed bytes with the main direction of its edges as a vector of the doubled angle',
    }),
  })
  .meta({ id: 'PictureStatistics' })
export type PictureStatistics = z.infer<typeof pictureStatistics>
