// A bot on Go's standard library alone: Telegram's address is written in, and trust is the system's.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"net/http"
	"os"
)

type update struct {
	UpdateID int64 `json:"update_id"`
	Message  struct {
		Chat struct {
			ID int64 `json:"id"`
		} `json:"chat"`
	} `json:"message"`
}

func call(method string, parameters map[string]any, result any) {
	body, err := json.Marshal(parameters)
	if err != nil {
		log.Fatal(err)
	}
	address := "https://api.telegram.org/bot" + os.Getenv("BOT_TOKEN") + "/" + method
	answer, err := http.Post(address, "application/json", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&struct{ Result any }{result}); err != nil {
		log.Fatal(err)
	}
}

func main() {
	offset := int64(0)
	for {
		var updates []update
		call("getUpdates", map[string]any{"offset": offset, "timeout": 20}, &updates)
		for _, update := range updates {
			offset = update.UpdateID + 1
			var sent any
			call("sendMessage", map[string]any{"chat_id": update.Message.Chat.ID, "text": "yes"}, &sent)
		}
	}
}
