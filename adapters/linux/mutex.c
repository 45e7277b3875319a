/* mutex.c - a lock for the threads of this process
 * SPDX-License-Identifier: MIT
 */
#include "mutex.h"

#include <pthread.h>
#include <stdlib.h>

struct cpubind_mutex {
    pthread_mutex_t mutex;
};

cpubind_mutex *cpubind_mutex_new(void)
{
    cpubind_mutex *mutex = (cpubind_mutex *)malloc(sizeof *mutex);
    if (mutex && pthread_mutex_init(&mutex->mutex, NULL) == 0)
        return mutex;
    free(mutex);
    return NULL;
}

void cpubind_mutex_lock(cpubind_mutex *mutex)
{
    pthread_mutex_lock(&mutex->mutex);
}

void cpubind_mutex_unlock(cpubind_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->mutex);
}

void cpubind_mutex_free(cpubind_mutex *mutex)
{
    if (mutex)
        pthread_mutex_destroy(&mutex->mutex);
    free(mutex);
}
