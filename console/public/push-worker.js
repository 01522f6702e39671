// Shows the push messages of the appliance, also while the console is closed.

self.addEventListener('push', event => {
  const { id, title, body, link } = event.data.json()
  // A repeated message replaces the first one.
  event.waitUntil(
    self.registration.showNotification(title, {
      body,
      tag: id,
      icon: '/favicon.svg',
      data: { link },
    }),
  )
})

self.addEventListener('notificationclick', event => {
  event.notification.close()
  event.waitUntil(self.clients.openWindow(event.notification.data.link))
})
