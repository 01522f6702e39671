import { pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, key } from './columns.ts'
import { userId } from './user.ts'

/** A browser on which a user has switched on messages. */
export const pushSubscription = pgTable(
  'push_subscription',
  {
    push_subscription_id: key().primaryKey(),
    user_id: userId(),
    endpoint: text().notNull(),
    /**
     * The keys of the browser. Sending to it also needs the private key of this appliance, which
     * is stored encrypted.
     */
    p256dh: text().notNull(),
    auth: text().notNull(),
    label: text().notNull(),
    created_at: createdAt(),
  },
  table => [uniqueIndex('push_subscription_endpoint').on(table.endpoint)],
)
